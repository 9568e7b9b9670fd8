#include "train/record/checkpoint.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <limits>

#include "base/random.h"
#include "model/files/test_files.h"
#include "model/files/write_safetensors.h"
#include "train/record/checksum.h"

namespace ingot {
namespace {

struct Tensors {
  std::vector<float> weight = std::vector<float>(6 * 7), moment = std::vector<float>(6 * 7);
  std::vector<BFloat16> half = std::vector<BFloat16>(5);

  explicit Tensors(std::uint64_t seed) {
    RandomNumbers numbers(seed);
    for (float& value : weight) value = std::bit_cast<float>(static_cast<std::uint32_t>(numbers.next()));
    for (float& value : moment) value = static_cast<float>(numbers.normal());
    for (BFloat16& value : half) value = std::bit_cast<BFloat16>(static_cast<std::uint16_t>(numbers.next()));
    weight[3] = std::numeric_limits<float>::quiet_NaN();
    weight[4] = -0.0f;
  }
  std::vector<CheckpointTarget> targets() {
    return {{"weight/a", View<float>(weight.data(), {6, 7})},
            {"moment1/a", View<float>(moment.data(), {6, 7})},
            {"weight/b", View<BFloat16>(half.data(), {5})}};
  }
  std::vector<CheckpointSource> sources() {
    std::vector<CheckpointSource> all;
    for (const CheckpointTarget& target : targets()) all.push_back({target.name, target.view});
    return all;
  }
  bool has_bits_of(const Tensors& other) const {
    return std::memcmp(weight.data(), other.weight.data(), 4 * weight.size()) == 0 &&
           std::memcmp(moment.data(), other.moment.data(), 4 * moment.size()) == 0 &&
           std::memcmp(half.data(), other.half.data(), 2 * half.size()) == 0;
  }
};

Checkpoint some_numbers() {
  Checkpoint checkpoint;
  checkpoint.step = 1234;
  checkpoint.tokens = 1LL << 40;
  checkpoint.epoch = 2;
  checkpoint.index = 77;
  checkpoint.schedule = {ScheduleKind::linear, 0.1, 1e-300, 5, 10000};
  checkpoint.learning_rate = 1.0 / 3;
  checkpoint.best_validation_loss = 2.5000000000000004;
  checkpoint.tokenizer_hash = ~0ull;
  checkpoint.data_hash = 0x123456789abcdefull;
  checkpoint.random_states = {{"data", 0x8000000000000000u}, {"noise", 0}};
  checkpoint.configuration = "# \"run\"\nwidth = 32\n";
  return checkpoint;
}

std::string bytes_of_file(const std::string& path) { return std::string(MappedFile::open(path).value().text()); }

void expect_error(const Result<void>& result, std::string_view part) {
  ASSERT_FALSE(result.ok()) << part;
  EXPECT_NE(result.error().text().find(part), std::string_view::npos) << result.error().text();
}

TEST(Checkpoint, EveryNumberAndEveryBitComesBack) {
  const TemporaryFolder folder;
  Tensors written(1), read(2);
  for (Checkpoint numbers : {some_numbers(), Checkpoint()}) {
    const Result<void> result = write_checkpoint(folder.file("c"), numbers, written.sources());
    ASSERT_TRUE(result.ok()) << result.error().text();
    const Result<StoredCheckpoint> stored = read_checkpoint(folder.file("c"));
    ASSERT_TRUE(stored.ok()) << stored.error().text();
    EXPECT_EQ(stored.value().numbers(), numbers);
    EXPECT_EQ(stored.value().tensors().size(), 3u);
    ASSERT_NE(stored.value().find("weight/b"), nullptr);
    EXPECT_EQ(stored.value().find("weight/b")->shape, (Shape{5}));
    EXPECT_FALSE(read.has_bits_of(written));
    const Result<void> copied = stored.value().copy_into(read.targets());
    ASSERT_TRUE(copied.ok()) << copied.error().text();
    EXPECT_TRUE(read.has_bits_of(written));
    read = Tensors(2);
  }
  EXPECT_EQ(folder.file_count(), 1u);
}

TEST(Checkpoint, ACopyNamesWhatDoesNotFitAndCopiesNothing) {
  const TemporaryFolder folder;
  Tensors written(1), read(2);
  const Tensors untouched(2);
  ASSERT_TRUE(write_checkpoint(folder.file("c"), some_numbers(), written.sources()).ok());
  const StoredCheckpoint stored = read_checkpoint(folder.file("c")).value();
  std::vector<CheckpointTarget> targets = read.targets();
  targets[2].view = View<BFloat16>(read.half.data(), {5, 1});
  expect_error(stored.copy_into(targets),
               "tensor 'weight/b': expected bf16 [5, 1], found a checkpoint of another shape: BF16 [5]");
  std::vector<float> wide(5);
  targets[2].view = View<float>(wide.data(), {5});
  expect_error(stored.copy_into(targets), "tensor 'weight/b': expected f32 [5], found a checkpoint of another shape");
  targets[2] = {"weight/new", View<float>(wide.data(), {5})};
  expect_error(stored.copy_into(targets), "tensor 'weight/new': expected f32 [5], found no such tensor");
  targets.pop_back();
  expect_error(stored.copy_into(targets),
               "tensor 'weight/b': expected only tensors that the model has, found one more");
  targets.push_back(targets[0]);
  expect_error(stored.copy_into(targets), "expected every target once, found 'weight/a' again");
  targets = read.targets();
  targets[0].view = View<float>(read.weight.data(), {6, 7}, {1, 6});
  expect_error(stored.copy_into(targets), "tensor 'weight/a': expected packed elements on the host");
  EXPECT_TRUE(read.has_bits_of(untouched));

  targets = read.targets();
  targets.erase(targets.begin() + 1);
  ASSERT_TRUE(stored.copy_into(targets, weight_group).ok()) << "the weights alone";
  EXPECT_EQ(std::memcmp(read.weight.data(), written.weight.data(), 4 * read.weight.size()), 0);
}

TEST(Checkpoint, RefusesToWriteWhatItCouldNotReadBack) {
  const TemporaryFolder folder;
  Tensors tensors(1);
  std::vector<CheckpointSource> sources = tensors.sources();
  sources[0].view = View<float>(tensors.weight.data(), {6, 7}, {1, 6});
  expect_error(write_checkpoint(folder.file("c"), {}, sources), "with gaps");
  sources[0].view = View<float>(nullptr, {6, 7});
  expect_error(write_checkpoint(folder.file("c"), {}, sources), "found a null pointer");
  Checkpoint numbers;
  numbers.best_validation_loss = std::numeric_limits<double>::infinity();
  expect_error(write_checkpoint(folder.file("c"), numbers, {}), "best_validation_loss: expected a finite number");
  sources = tensors.sources();
  sources[1].name = "weight/a";
  expect_error(write_checkpoint(folder.file("c"), {}, sources), "expected every tensor name once");
  EXPECT_EQ(folder.file_count(), 0u);
}

TEST(Checkpoint, EveryFlippedByteAndEveryTruncationIsNoticed) {
  const TemporaryFolder folder;
  Tensors tensors(1);
  ASSERT_TRUE(write_checkpoint(folder.file("c"), some_numbers(), tensors.sources()).ok());
  const std::string good = bytes_of_file(folder.file("c"));
  // A new file each time: some disks flush whatever replaces old contents.
  const auto read_bytes = [&](const std::string& bytes) {
    std::filesystem::remove(folder.file("bad"));
    folder.write("bad", bytes);
    return read_checkpoint(folder.file("bad"));
  };
  for (std::size_t position = 0; position < good.size(); ++position) {
    std::string bad = good;
    bad[position] = static_cast<char>(bad[position] ^ 0x04);
    // The padding behind the header's last brace means nothing, but must be blank all the same.
    EXPECT_FALSE(read_bytes(bad).ok()) << "byte " << position;
  }
  for (std::size_t length = 0; length < good.size(); length += 13) {
    EXPECT_FALSE(read_bytes(good.substr(0, length)).ok()) << length;
  }
  std::string bad = good;
  bad.back() = static_cast<char>(bad.back() ^ 1);
  const Error error = read_bytes(bad).error();
  EXPECT_EQ(error.code(), ErrorCode::corrupt);
  EXPECT_NE(error.text().find("tensor 'weight/b': expected type, shape and checksum 'bf16 [5] "), std::string::npos);
  EXPECT_NE(error.text().find("the file is damaged"), std::string::npos);
}

TEST(Checkpoint, AnotherFileIsNotADamagedCheckpoint) {
  const TemporaryFolder folder;
  Metadata metadata;
  metadata.set_text("format", "pt");
  ASSERT_TRUE(write_safetensors(folder.file("c"), metadata, {}).ok());
  EXPECT_NE(read_checkpoint(folder.file("c")).error().text().find("format: expected ingot-checkpoint-2, found 'pt'"),
            std::string_view::npos);
  EXPECT_FALSE(read_checkpoint(folder.file("absent")).ok());
}

TEST(Checkpoint, AFullDiskLeavesTheOldOne) {
  const TemporaryFolder folder;
  Tensors tensors(1);
  ASSERT_TRUE(write_checkpoint(folder.file("c"), some_numbers(), tensors.sources()).ok());
  std::vector<float> large(1 << 18, 1.5f);
  const CheckpointSource source{"weight/large", View<float>(large.data(), {1 << 18})};
  {
    const FileSizeLimit limit(1 << 16);
    EXPECT_FALSE(write_checkpoint(folder.file("c"), {}, std::span(&source, 1)).ok());
  }
  EXPECT_EQ(folder.file_count(), 1u);
  EXPECT_EQ(read_checkpoint(folder.file("c")).value().numbers(), some_numbers());
}

TEST(Checksum, PairsOfChangesAndLengthsAreSeen) {
  std::vector<std::byte> bytes(257);
  const std::uint64_t zeros = checksum_of(bytes);
  EXPECT_NE(zeros, checksum_of(std::span(bytes).first(256)));
  EXPECT_NE(checksum_of({}), checksum_of(std::span(bytes).first(1)));
  // Sign bits: the pair of changes that a sum of products alone would miss.
  bytes[7] = bytes[39] = std::byte{0x80};
  EXPECT_NE(zeros, checksum_of(bytes));
}

}  // namespace
}  // namespace ingot
