// Experts of a checkpoint, stored one by one, as the one tensor that they are here. That they compute the right thing
// is for the goldens.
#include "model/template/experts.h"

#include <gtest/gtest.h>

#include "model/files/test_files.h"

namespace ingot {
namespace {

// A Mixtral of nothing but embeddings and the gates of the first layer's experts: [1, 2] each, holding their number.
class ExpertCheckpoint {
 public:
  ExpertCheckpoint() { add("model.embed_tokens.weight", "[1,2]", {0, 0}); }

  void add(std::string_view name, std::string_view shape, std::vector<float> values) {
    header_ += (header_.empty() ? "\"" : ",\"") + std::string(name) + R"(":{"dtype":"F32","shape":)" +
               std::string(shape) + R"(,"data_offsets":[)" + std::to_string(data_.all().size()) + ",";
    for (const float value : values) data_.number(value);
    header_ += std::to_string(data_.all().size()) + "]}";
  }
  void add_expert(int number) {
    add("model.layers.0.block_sparse_moe.experts." + std::to_string(number) + ".w1.weight", "[1,2]",
        {static_cast<float>(number), -1});
  }

  Result<ModelSource> translated() {
    folder_.write("config.json", R"({"model_type": "mixtral", "num_hidden_layers": 1})");
    folder_.write("model.safetensors", FileBytes().text("{" + header_ + "}").raw(data_.all()).all());
    file_.emplace(TRY(ModelFile::open(folder_.path())));
    return read_source(*file_);
  }

 private:
  TemporaryFolder folder_;
  std::string header_;
  FileBytes data_;
  std::optional<ModelFile> file_;
};

TEST(Experts, AreStackedInTheOrderOfTheirNumbers) {
  ExpertCheckpoint checkpoint;
  for (int number = 11; number >= 0; --number) checkpoint.add_expert(number);
  const Result<ModelSource> source = checkpoint.translated();
  ASSERT_TRUE(source.ok()) << source.error().text();
  const ConstAnyView* stack = source.value().weights.find("blk.0.ffn_gate_exps.weight");
  ASSERT_NE(stack, nullptr);
  ASSERT_EQ(stack->shape(), (Shape{12, 1, 2}));
  const auto values = stack->as<const float>();
  for (int number = 0; number < 12; ++number) EXPECT_EQ(values(number, 0, 0), static_cast<float>(number));
}

TEST(Experts, ThatAreMissingAreAnError) {
  ExpertCheckpoint checkpoint;
  checkpoint.add_expert(0);
  checkpoint.add_expert(2);
  const Result<ModelSource> source = checkpoint.translated();
  ASSERT_FALSE(source.ok());
  EXPECT_NE(source.error().text().find("blk.0.ffn_gate_exps.weight: expected matrices of experts 0 to 2, found 2"),
            std::string_view::npos)
      << source.error().text();
}

TEST(Experts, OfAnotherShapeAreAnError) {
  ExpertCheckpoint checkpoint;
  checkpoint.add_expert(0);
  checkpoint.add("model.layers.0.block_sparse_moe.experts.1.w1.weight", "[2,1]", {0, 0});
  const Result<ModelSource> source = checkpoint.translated();
  ASSERT_FALSE(source.ok());
  EXPECT_NE(source.error().text().find("found expert 1 as f32 [2, 1]"), std::string_view::npos)
      << source.error().text();
}

TEST(Experts, NumbersTooLongToBeNumbersAreUnknownNames) {
  ExpertCheckpoint checkpoint;
  checkpoint.add("model.layers.0.block_sparse_moe.experts.99999999999999999999.w1.weight", "[1,2]", {0, 0});
  EXPECT_EQ(checkpoint.translated().error().code(), ErrorCode::unsupported);
}

TEST(Experts, NumbersMustFitEachOther) {
  ModelSource source;
  EXPECT_EQ(read_expert_numbers(source, "llama", 8).value().count, 0);
  source.metadata.set_integer("llama.expert_count", 4);
  EXPECT_FALSE(read_expert_numbers(source, "llama", 8).ok());  // used by nobody
  source.metadata.set_integer("llama.expert_used_count", 5);
  EXPECT_FALSE(read_expert_numbers(source, "llama", 8).ok());
  source.metadata.set_integer("llama.expert_used_count", 2);
  EXPECT_EQ(read_expert_numbers(source, "llama", 8).value().hidden, 8);
}

}  // namespace
}  // namespace ingot
