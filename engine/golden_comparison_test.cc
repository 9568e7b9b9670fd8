#include "engine/golden_comparison.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <fstream>

#include "engine/embedding.h"
#include "engine/golden_model.h"
#include "model/files/safetensors.h"

namespace ingot {
namespace {

// A copy of a golden in which one number of one tensor is another.
class PerturbedGolden {
 public:
  PerturbedGolden(const std::filesystem::path& golden, std::string_view tensor, float added)
      : path_(std::filesystem::path(testing::TempDir()) / ("ingot_perturbed_" + std::to_string(::getpid()))) {
    std::ifstream input(golden, std::ios::binary);
    std::string bytes((std::istreambuf_iterator<char>(input)), {});
    const Result<SafetensorsFile> file = SafetensorsFile::parse(std::as_bytes(std::span(bytes)));
    for (const TensorRecord& record : file.value().records()) {
      if (record.name != tensor) continue;
      float value = 0;
      char* place = bytes.data() + (reinterpret_cast<const char*>(record.bytes.data()) - bytes.data());
      std::memcpy(&value, place, sizeof value);
      value += added;
      std::memcpy(place, &value, sizeof value);
    }
    std::ofstream(path_, std::ios::binary) << bytes;
  }
  ~PerturbedGolden() { std::filesystem::remove(path_); }

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

GoldenComparison compared(const std::string& model, const std::filesystem::path& path) {
  const Result<Golden> golden = Golden::open(path);
  if (!golden.ok()) {
    ADD_FAILURE() << golden.error().text();
    return {};
  }
  const auto count = static_cast<std::int64_t>(golden.value().tokens().size());
  const auto session = golden_session(model, {.context = count});
  if (session == nullptr) return {};
  Result<GoldenComparison> comparison = compare_with_golden(*session, golden.value(), 1e-4);
  if (comparison.ok()) return std::move(comparison).value();
  ADD_FAILURE() << comparison.error().text();
  return {};
}

TEST(GoldenComparison, EveryLayerOfEveryGoldenAgrees) {
  for (const std::string& name : golden_names()) {
    const GoldenComparison comparison = compared(name, golden_folder(name) / "golden.safetensors");
    // Of a model with several streams the logits alone are recorded.
    EXPECT_GE(comparison.checkpoints.size(), name == "gemma3n_text" ? 1u : 3u) << name;
    for (const GoldenCheckpoint& checkpoint : comparison.checkpoints) {
      EXPECT_FALSE(checkpoint.diverges) << name << ": " << checkpoint.name << " after " << checkpoint.makes
                                        << " is off by " << checkpoint.error;
    }
  }
}

TEST(GoldenComparison, NamesTheFirstGroupThatDiffers) {
  const PerturbedGolden perturbed(golden_folder("llama") / "golden.safetensors", "hidden.0.2", 0.5f);
  const GoldenComparison comparison = compared("llama", perturbed.path());
  ASSERT_TRUE(comparison.first_divergence.has_value());
  const GoldenCheckpoint& first = comparison.checkpoints[*comparison.first_divergence];
  EXPECT_EQ(first.name, "hidden.0.2");
  EXPECT_TRUE(first.first_step.starts_with("blk.1.")) << first.first_step;
  EXPECT_TRUE(first.makes.starts_with("blk.1.")) << first.makes;
  EXPECT_FALSE(comparison.checkpoints.back().diverges);
}

TEST(GoldenComparison, RefusesAnotherModelsGoldenAndFilesThatAreNone) {
  const Result<Golden> golden = Golden::open(golden_folder("gpt2") / "golden.safetensors");
  ASSERT_TRUE(golden.ok()) << golden.error().text();
  const auto session = golden_session("bert", {.context = 16});
  ASSERT_NE(session, nullptr);
  EXPECT_FALSE(compare_with_golden(*session, golden.value(), 1e-4).ok());
  EXPECT_FALSE(Golden::open(golden_folder("llama") / "model.safetensors").ok());
  EXPECT_FALSE(Golden::open(golden_folder("llama") / "absent.safetensors").ok());
}

TEST(Embedding, IsTheRecordedMeanOfLengthOne) {
  const std::filesystem::path path = golden_folder("bert") / "golden.safetensors";
  const Result<Golden> golden = Golden::open(path);
  ASSERT_TRUE(golden.ok()) << golden.error().text();
  const auto session = golden_session("bert", {.context = 16});
  ASSERT_NE(session, nullptr);
  const Result<std::vector<std::vector<float>>> vectors = embeddings_of(*session, golden.value().tokens());
  ASSERT_TRUE(vectors.ok()) << vectors.error().text();
  ASSERT_EQ(vectors.value().size(), 1u);
  const std::vector<float>& found = vectors.value()[0];
  const SafetensorsFile file = std::move(SafetensorsFile::open(path)).value();
  const StoredTensors tensors = file.tensors().value();
  const StoredTensor* recorded = tensors.find("embedding.0");
  ASSERT_NE(recorded, nullptr);
  const auto expected = recorded->view.as<const float>();
  ASSERT_EQ(expected.count(), static_cast<std::int64_t>(found.size()));
  for (std::int64_t index = 0; index < expected.count(); ++index) {
    EXPECT_NEAR(found[static_cast<std::size_t>(index)], expected(index), 1e-5);
  }
}

TEST(Embedding, AModelThatPredictsTokensHasNone) {
  const auto session = golden_session("llama", {.context = 16});
  ASSERT_NE(session, nullptr);
  const std::vector<std::int32_t> tokens = {1, 2, 3};
  const auto found = embeddings_of(*session, tokens);
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().code(), ErrorCode::unsupported);
}

}  // namespace
}  // namespace ingot
