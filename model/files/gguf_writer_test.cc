#include "model/files/gguf_writer.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "model/files/gguf.h"
#include "model/files/test_files.h"

namespace ingot {
namespace {

Metadata every_kind() {
  Metadata metadata;
  metadata.set_text("text", "value");
  metadata.set_text("empty", "");
  metadata.set_scalar("u8", std::uint8_t{255});
  metadata.set_scalar("i8", std::int8_t{-128});
  metadata.set_scalar("u16", std::uint16_t{65535});
  metadata.set_scalar("i16", std::int16_t{-32768});
  metadata.set_scalar("u32", std::uint32_t{1} << 31);
  metadata.set_scalar("i32", std::int32_t{-5});
  metadata.set_scalar("u64", ~std::uint64_t{0});
  metadata.set_scalar("i64", std::int64_t{-6});
  metadata.set_scalar("f32", 0.1f);
  metadata.set_scalar("f64", 0.1);
  metadata.set_boolean("yes", true);
  const std::string_view texts[] = {"a", "", "\xff\x00z"};
  metadata.set_text_list("texts", texts);
  const double numbers[] = {1.5, -2.5};
  metadata.set_scalar_list<double>("numbers", numbers);
  metadata.set_scalar_list<float>("none", {});
  return metadata;
}

std::vector<std::byte> pattern(std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t index = 0; index < size; ++index) bytes[index] = static_cast<std::byte>(index * 31 % 251);
  return bytes;
}

bool has_bytes(const TensorRecord& record, const std::vector<std::byte>& bytes) {
  return std::ranges::equal(record.bytes, bytes);
}

std::string contents(const std::string& path) { return std::string(MappedFile::open(path).value().text()); }

TEST(GgufWriter, WhatIsWrittenReadsBackAndWritesTheSameFile) {
  const TemporaryFolder folder;
  const Metadata metadata = every_kind();
  const std::vector<std::byte> floats = pattern(2 * 3 * 5 * 4), blocks = pattern(2 * 34), large = pattern(3 << 20);
  std::vector<TensorToWrite> tensors = {
      tensor_to_write("floats", DType::f32, {2, 3, 5}, floats),
      tensor_to_write("blocks", DType::q8_0, {2, 32}, blocks),
      tensor_to_write("scalar", DType::i8, {}, std::span(blocks).first(1)),
      tensor_to_write("empty", DType::f16, {0, 7}, {}),
  };
  tensors.push_back({"pieces", DType::i8, {3 << 20}, [&](const ByteSink& sink) -> Result<void> {
                       TRY(sink(std::span(large).first(100)));
                       TRY(sink(std::span(large).subspan(100, 2 << 20)));
                       return sink(std::span(large).subspan(100 + (2 << 20)));
                     }});
  const Result<void> written = write_gguf(folder.file("a.gguf"), metadata, tensors);
  ASSERT_TRUE(written.ok()) << written.error().text();
  EXPECT_EQ(folder.file_count(), 1u);

  const GgufFile file = GgufFile::open(folder.file("a.gguf")).value();
  EXPECT_EQ(file.version(), 3u);
  EXPECT_EQ(file.metadata(), metadata);
  ASSERT_EQ(file.records().size(), 5u);
  EXPECT_EQ(file.records()[0].shape, (Shape{2, 3, 5}));
  EXPECT_TRUE(has_bytes(file.records()[0], floats));
  EXPECT_TRUE(has_bytes(file.records()[1], blocks));
  EXPECT_EQ(file.records()[2].shape.rank(), 0);
  EXPECT_EQ(file.records()[3].shape, (Shape{0, 7}));
  EXPECT_TRUE(has_bytes(file.records()[4], large));

  const StoredTensors stored = file.tensors().value();
  std::vector<TensorToWrite> again;
  for (const StoredTensor& tensor : stored.all()) again.push_back(tensor_to_write(tensor));
  ASSERT_TRUE(write_gguf(folder.file("b.gguf"), file.metadata(), again).ok());
  EXPECT_EQ(contents(folder.file("a.gguf")), contents(folder.file("b.gguf")));
}

TEST(GgufWriter, ObeysTheAlignmentInTheMetadata) {
  const TemporaryFolder folder;
  const std::vector<std::byte> bytes = pattern(12);
  const std::vector<TensorToWrite> tensors = {tensor_to_write("a", DType::f32, {3}, bytes),
                                              tensor_to_write("b", DType::f32, {3}, bytes)};
  for (std::uint32_t alignment : {1u, 4u, 4096u}) {
    Metadata metadata;
    metadata.set_scalar("general.alignment", alignment);
    ASSERT_TRUE(write_gguf(folder.file("a.gguf"), metadata, tensors).ok());
    const Result<GgufFile> file = GgufFile::open(folder.file("a.gguf"));
    ASSERT_TRUE(file.ok()) << file.error().text();
    EXPECT_TRUE(has_bytes(file.value().records()[1], bytes));
  }
  Metadata odd;
  odd.set_scalar("general.alignment", 13u);
  EXPECT_NE(write_gguf(folder.file("b.gguf"), odd, tensors).error().text().find("power of two"),
            std::string_view::npos);
  odd.set_integer("general.alignment", 32);
  EXPECT_NE(write_gguf(folder.file("b.gguf"), odd, tensors).error().text().find("as i64"), std::string_view::npos);
}

void expect_refused(const TensorToWrite& tensor, std::string_view part) {
  const TemporaryFolder folder;
  const Result<void> written = write_gguf(folder.file("a.gguf"), {}, std::span(&tensor, 1));
  ASSERT_FALSE(written.ok());
  EXPECT_NE(written.error().text().find(part), std::string_view::npos) << written.error().text();
  EXPECT_EQ(folder.file_count(), 0u);
}

TEST(GgufWriter, RefusesWhatTheFormatCannotHoldAndLeavesNoFile) {
  const std::vector<std::byte> bytes = pattern(8);
  expect_refused(tensor_to_write("t", DType::u8, {8}, bytes),
                 "tensor 't': expected a type that GGUF can store, found u8");
  expect_refused(tensor_to_write(std::string(64, 'n'), DType::f32, {2}, bytes), "at most 63 bytes, found 64");
  expect_refused(tensor_to_write("t", DType::f32, {1, 1, 1, 1, 2}, bytes), "at most 4 dimensions");
  expect_refused(tensor_to_write("t", DType::q8_0, {8}, bytes), "a multiple of 32");
  expect_refused(tensor_to_write("t", DType::f32, {3}, bytes), "tensor 't': expected 12 bytes of data, found 8");
  expect_refused({"t",
                  DType::f32,
                  {2},
                  [](const ByteSink&) -> Result<void> { return Error::of(ErrorCode::out_of_memory, "no room"); }},
                 "tensor 't': no room");
  const TemporaryFolder folder;
  const TensorToWrite twice[] = {tensor_to_write("t", DType::f32, {2}, bytes),
                                 tensor_to_write("t", DType::f32, {2}, bytes)};
  EXPECT_FALSE(write_gguf(folder.file("a.gguf"), {}, twice).ok());
  EXPECT_FALSE(write_gguf(folder.file("absent/a.gguf"), {}, {}).ok());
}

TEST(GgufWriter, AFailedWriteLeavesTheOldFileAndNoOther) {
  const TemporaryFolder folder;
  folder.write("a.gguf", "old");
  const std::vector<std::byte> bytes = pattern(4 << 20);
  const TensorToWrite tensor = tensor_to_write("t", DType::i8, {4 << 20}, bytes);
  {
    const FileSizeLimit limit(1 << 20);
    const Result<void> written = write_gguf(folder.file("a.gguf"), {}, std::span(&tensor, 1));
    ASSERT_FALSE(written.ok());
    EXPECT_EQ(written.error().code(), ErrorCode::input_output);
    EXPECT_NE(written.error().text().find("no file was left behind"), std::string_view::npos);
  }
  EXPECT_EQ(contents(folder.file("a.gguf")), "old");
  EXPECT_EQ(folder.file_count(), 1u);
}

TEST(GgufWriter, OutsideVocabulariesSurviveARoundTrip) {
  const std::optional<std::string> outside = outside_data("tokenizer-vectors");
  if (!outside) GTEST_SKIP() << "SKIPPED: INGOT_OUTSIDE_DATA has no tokenizer-vectors";
  const TemporaryFolder folder;
  int passed = 0;
  for (const auto& entry : std::filesystem::directory_iterator(*outside)) {
    if (entry.path().extension() != ".gguf") continue;
    const GgufFile file = GgufFile::open(entry.path()).value();
    ASSERT_TRUE(write_gguf(folder.file("copy.gguf"), file.metadata(), {}).ok());
    const GgufFile copy = GgufFile::open(folder.file("copy.gguf")).value();
    EXPECT_EQ(file.metadata(), copy.metadata()) << entry.path();
    passed += file.metadata() == copy.metadata() ? 1 : 0;
  }
  std::printf("tokenizer-vectors: %d vocabularies survive a round trip\n", passed);
}

}  // namespace
}  // namespace ingot
