// What the goldens leave out: they bound no step sizes.
#include "model/template/state_space.h"

#include <gtest/gtest.h>

#include "model/files/test_files.h"

namespace ingot {
namespace {

// Mamba 2 without layers' weights: enough to translate, and to see which bounds arrive.
Result<ModelSource> translated(const TemporaryFolder& folder, std::string_view limit) {
  folder.write("config.json", R"({"model_type": "mamba2", "num_hidden_layers": 1, "hidden_size": 2, "num_heads": 2,
      "head_dim": 2, "state_size": 3, "conv_kernel": 4, "n_groups": 1, "time_step_limit": )" +
                                  std::string(limit) + "}");
  FileBytes file;
  file.text(R"({"backbone.embeddings.weight":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]}})");
  folder.write("model.safetensors", file.raw(std::string(8, '\0')).all());
  const ModelFile opened = TRY(ModelFile::open(folder.path()));
  return read_source(opened);
}

TEST(StateSpace, StepsAreBoundWhereTheCheckpointSaysSo) {
  const TemporaryFolder folder;
  const Result<ModelSource> source = translated(folder, "[0.5, 2.0]");
  ASSERT_TRUE(source.ok()) << source.error().text();
  EXPECT_EQ(source.value().metadata.number("ingot.mamba2.least_step").value(), 0.5);
  EXPECT_EQ(source.value().metadata.number("ingot.mamba2.most_step").value(), 2);
  EXPECT_FALSE(translated(folder, "[0.5, 2.0, 3.0]").ok());
}

TEST(StateSpace, AnInfiniteBoundIsNone) {
  const TemporaryFolder folder;
  for (const std::string_view limit : {"[0.5, Infinity]", R"([0.5, {"__float__": "Infinity"}])"}) {
    const Result<ModelSource> source = translated(folder, limit);
    ASSERT_TRUE(source.ok()) << source.error().text();
    EXPECT_EQ(source.value().metadata.number("ingot.mamba2.least_step").value(), 0.5);
    EXPECT_FALSE(source.value().metadata.has("ingot.mamba2.most_step"));
  }
}

TEST(StateSpace, NumbersThatNoMemoryHoldsAreErrors) {
  ModelSource source;
  for (const std::string_view key : {"conv_kernel", "inner_size", "state_size", "time_step_rank", "group_count"}) {
    source.metadata.set_integer("mamba2.ssm." + std::string(key), 4);
  }
  EXPECT_TRUE(read_state_space_numbers(source.metadata, "mamba2").ok());
  source.metadata.set_integer("mamba2.ssm.state_size", std::int64_t{1} << 23);
  EXPECT_FALSE(read_state_space_numbers(source.metadata, "mamba2").ok());  // times 4 groups
  source.metadata.set_integer("mamba2.ssm.state_size", 4);
  source.metadata.set_integer("mamba2.ssm.conv_kernel", 1);
  EXPECT_FALSE(read_state_space_numbers(source.metadata, "mamba2").ok());
}

}  // namespace
}  // namespace ingot
