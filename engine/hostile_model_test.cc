// Every architecture told wrongly: each number of a good model replaced by bad ones, each tensor missing, of another
// shape or of another type. Whatever comes of it is an error or a result, never a crash, a hang or a flood of memory.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>

#include "engine/golden_model.h"
#include "model/files/gguf_writer.h"

namespace ingot {
namespace {

// Every so manyth change is tried, of each architecture others: under a sanitizer a model takes fifteen times as long,
// and what makes most of them an error is the same code.
#if defined(INGOT_SANITIZED)
constexpr int stride = 7;
#else
constexpr int stride = 1;
#endif

class HostileModelTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    Result<ModelFile> file = ModelFile::open(golden_folder(GetParam()));
    ASSERT_TRUE(file.ok()) << file.error().text();
    file_.emplace(std::move(file).value());
    Result<ModelSource> source = read_source(*file_);
    ASSERT_TRUE(source.ok()) << source.error().text();
    source_ = std::move(source).value();
    change_ = static_cast<int>(std::hash<std::string>()(GetParam()) % stride);
    path_ = testing::TempDir() + "ingot_hostile_" + GetParam() + "_" + std::to_string(::getpid()) + ".gguf";
  }

  void TearDown() override { std::filesystem::remove_all(path_); }

  std::vector<TensorToWrite> tensors() const {
    std::vector<TensorToWrite> all;
    for (const auto& [name, view] : source_.weights.all()) all.push_back(tensor_to_write({name, view}));
    return all;
  }

  static Result<void> two_tokens(const std::string& path) {
    const std::shared_ptr<const Model> model = TRY(Model::open(path));
    const std::unique_ptr<Session> session = TRY(Session::create(model, {.cache = DType::f32, .context = 8}));
    const std::int32_t tokens[] = {0, 1};
    const int sequence = TRY(session->sequences().add());
    TRY(session->forward({sequence, tokens, Wanted::last}));
    return {};
  }

  bool is_turn() { return change_++ % stride == 0; }

  void expect_an_end(const Metadata& metadata, std::span<const TensorToWrite> written) {
    if (!is_turn()) return;
    ASSERT_TRUE(write_gguf(path_, metadata, written).ok());
    expect_an_end(path_);
  }

  void expect_an_end(const std::string& path) {
    const Result<void> outcome = two_tokens(path);
    ++(outcome.ok() ? results_ : errors_);
    EXPECT_TRUE(outcome.ok() || !outcome.error().text().empty());
  }

  void report() {
    EXPECT_GT(errors_, 0);
    std::printf("%s: %d errors, %d results\n", GetParam().c_str(), errors_, results_);
  }

  std::optional<ModelFile> file_;
  ModelSource source_;
  std::string path_;
  int change_ = 0;  // of the next one
  int errors_ = 0;
  int results_ = 0;
};

TEST_P(HostileModelTest, Numbers) {
  const std::function<void(Metadata&, std::string_view)> changes[] = {
      [](Metadata& metadata, std::string_view key) { metadata.set_integer(key, 0); },
      [](Metadata& metadata, std::string_view key) { metadata.set_integer(key, -1); },
      [](Metadata& metadata, std::string_view key) { metadata.set_integer(key, 7); },
      [](Metadata& metadata, std::string_view key) { metadata.set_integer(key, std::int64_t{1} << 62); },
      [](Metadata& metadata, std::string_view key) { metadata.set_number(key, std::nan("")); },
      [](Metadata& metadata, std::string_view key) { metadata.set_number(key, -1e300); },
      [](Metadata& metadata, std::string_view key) { metadata.set_text(key, "other"); },
      [](Metadata& metadata, std::string_view key) { metadata.set_scalar_list<bool>(key, {}); },
  };
  for (const Metadata::Entry& entry : source_.metadata.entries()) {
    for (const auto& change : changes) {
      Metadata metadata = source_.metadata;
      change(metadata, entry.key);
      expect_an_end(metadata, tensors());
    }
  }
  report();
}

TEST_P(HostileModelTest, Tensors) {
  const std::vector<TensorToWrite> good = tensors();
  const std::vector<std::byte> zeros(1 << 20);
  for (std::size_t index = 0; index < good.size(); ++index) {
    const auto with = [&](const TensorToWrite& other) {
      std::vector<TensorToWrite> changed = good;
      changed[index] = other;
      expect_an_end(source_.metadata, changed);
    };
    const auto zero = [&](DType dtype, const Shape& shape) {
      const auto bytes = static_cast<std::size_t>(element_count(shape) * block_bytes(dtype));
      return tensor_to_write(good[index].name, dtype, shape, std::span(zeros).first(bytes));
    };
    std::vector<TensorToWrite> fewer = good;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(index));
    expect_an_end(source_.metadata, fewer);
    with(zero(DType::i32, good[index].shape));
    with(zero(DType::f32, {element_count(good[index].shape)}));
    with(zero(DType::f32, {1, 1}));
    with(zero(DType::f32, {1, 2, 3}));
  }
  report();
}

TEST_P(HostileModelTest, Configuration) {
  std::filesystem::create_directories(path_);
  for (const auto& entry : std::filesystem::directory_iterator(golden_folder(GetParam()))) {
    const std::filesystem::path name = entry.path().filename();
    if (name.string().starts_with("model")) {
      std::filesystem::create_symlink(entry.path(), std::filesystem::path(path_) / name);
    }
  }
  // One value a line: what stands behind ": ", but for lists and objects.
  std::vector<std::string> lines;
  std::ifstream file(golden_folder(GetParam()) / "config.json");
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  for (std::string& line : lines) {
    const std::size_t value = line.find(": ") + 2;
    if (value < 2 || line.ends_with("{") || line.ends_with("[")) continue;
    const std::string good = line;
    for (const std::string_view bad : {"0", "-1", "7", "4611686018427387904", "0.001", "1e300", "-1e300", "\"other\"",
                                       "true", "false", "null", "[]", "{}"}) {
      if (!is_turn()) continue;
      line = good.substr(0, value) + std::string(bad) + (good.ends_with(",") ? "," : "");
      std::ofstream written(std::filesystem::path(path_) / "config.json");
      for (const std::string& each : lines) written << each << "\n";
      written.close();
      expect_an_end(path_);
    }
    line = good;
  }
  report();
}

TEST(PositionTable, NoSessionIsLongerThanIt) {
  for (const std::string name : {"gpt2", "bert"}) {
    const Result<std::shared_ptr<const Model>> model = Model::open(golden_folder(name));
    ASSERT_TRUE(model.ok()) << model.error().text();
    EXPECT_TRUE(Session::create(model.value(), {.context = 32}).ok());
    EXPECT_FALSE(Session::create(model.value(), {.context = 33}).ok());
  }
}

INSTANTIATE_TEST_SUITE_P(Architectures, HostileModelTest, testing::ValuesIn(golden_names()),
                         [](const auto& instance) { return instance.param; });

}  // namespace
}  // namespace ingot
