// What config.json's settings become in GGUF's keys. That the results compute the right thing is for the goldens.
#include "model/template/translation.h"

#include <gtest/gtest.h>

#include "model/files/test_files.h"
#include "model/template/decoder_numbers.h"

namespace ingot {
namespace {

// A checkpoint of one tensor, which is all that reading a decoder's numbers needs; the file is gone afterwards, and
// only the tensor's shape may be looked at.
Result<ModelSource> translated(const TemporaryFolder& folder, std::string_view config) {
  folder.write("config.json", config);
  FileBytes file;
  file.text(R"({"model.embed_tokens.weight":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]}})");
  folder.write("model.safetensors", file.raw(std::string(8, '\0')).all());
  const ModelFile opened = TRY(ModelFile::open(folder.path()));
  return read_source(opened);
}

std::vector<bool> sliding_layers(const ModelSource& source, std::string_view prefix, std::int64_t layers,
                                 std::int64_t usual_period) {
  Result<std::vector<bool>> slides = read_sliding_layers(source, prefix, layers, usual_period);
  EXPECT_TRUE(slides.ok()) << slides.error().text();
  return slides.ok() ? slides.value() : std::vector<bool>{};
}

constexpr std::string_view qwen2 = R"({"model_type": "qwen2", "num_hidden_layers": 3, "sliding_window": 5, )";

TEST(SlidingWindow, QwenCountsItOnlyWhereItIsUsed) {
  const TemporaryFolder folder;
  const Result<ModelSource> source = translated(folder, std::string(qwen2) + R"("use_sliding_window": false})");
  ASSERT_TRUE(source.ok()) << source.error().text();
  EXPECT_FALSE(source.value().metadata.has("qwen2.attention.sliding_window"));
}

TEST(SlidingWindow, QwenSlidesFromMaxWindowLayersOn) {
  const TemporaryFolder folder;
  const Result<ModelSource> source =
      translated(folder, std::string(qwen2) + R"("use_sliding_window": true, "max_window_layers": 1})");
  ASSERT_TRUE(source.ok()) << source.error().text();
  EXPECT_EQ(source.value().metadata.integer("qwen2.attention.sliding_window").value(), 5);
  EXPECT_EQ(sliding_layers(source.value(), "qwen2", 3, 0), (std::vector<bool>{false, true, true}));
}

TEST(SlidingWindow, ListedLayersWin) {
  const TemporaryFolder folder;
  const Result<ModelSource> source =
      translated(folder, std::string(qwen2) + R"("use_sliding_window": true, "max_window_layers": 1,
      "layer_types": ["sliding_attention", "full_attention", "sliding_attention"]})");
  ASSERT_TRUE(source.ok()) << source.error().text();
  EXPECT_EQ(sliding_layers(source.value(), "qwen2", 3, 0), (std::vector<bool>{true, false, true}));
  EXPECT_FALSE(read_sliding_layers(source.value(), "qwen2", 4, 0).ok());  // a list for another number of layers
}

TEST(SlidingWindow, APeriodEndsWithALayerThatSeesAll) {
  ModelSource source;
  EXPECT_EQ(sliding_layers(source, "gemma3", 4, 2), (std::vector<bool>{true, false, true, false}));
  EXPECT_EQ(sliding_layers(source, "gemma3", 2, 1), (std::vector<bool>{false, false}));
  EXPECT_EQ(sliding_layers(source, "gemma3", 2, 0), (std::vector<bool>{true, true}));
  source.metadata.set_scalar<std::uint32_t>("gemma3.attention.sliding_window_pattern", 3);
  EXPECT_EQ(sliding_layers(source, "gemma3", 4, 2), (std::vector<bool>{true, true, false, true}));
}

TEST(Rotation, ASharedPartOfEachHeadTurns) {
  const TemporaryFolder folder;
  const Result<ModelSource> source = translated(folder, R"({"model_type": "phi3", "num_hidden_layers": 1,
      "hidden_size": 96, "num_attention_heads": 4, "partial_rotary_factor": 0.75})");
  ASSERT_TRUE(source.ok()) << source.error().text();
  EXPECT_EQ(source.value().metadata.integer("phi3.rope.dimension_count").value(), 18);
}

TEST(Rotation, AFactorOfNoKindScalesPositions) {
  const TemporaryFolder folder;
  ModelSource source = translated(folder, R"({"model_type": "qwen2", "num_hidden_layers": 1, "hidden_size": 2,
      "num_attention_heads": 1, "max_position_embeddings": 32})")
                           .value();
  source.metadata.set_number("qwen2.rope.scaling.factor", 4);
  const Result<DecoderNumbers> numbers = read_decoder_numbers(source, "qwen2", PairStyle::half_split);
  ASSERT_TRUE(numbers.ok()) << numbers.error().text();
  EXPECT_EQ(numbers.value().rotation.scaling, RopeScaling::linear);
  EXPECT_EQ(numbers.value().rotation.original_context, 32);
}

TEST(Settings, ThatChangeTheComputationAreNotIgnored) {
  const TemporaryFolder folder;
  for (const std::string_view config :
       {R"({"model_type": "qwen3", "num_hidden_layers": 1, "hidden_act": "relu"})",
        R"({"model_type": "gemma3_text", "num_hidden_layers": 1, "use_bidirectional_attention": true})",
        R"({"model_type": "gpt2", "n_layer": 1, "scale_attn_weights": false})",
        R"({"model_type": "bert", "num_hidden_layers": 1, "position_embedding_type": "relative_key"})"}) {
    const Result<ModelSource> source = translated(folder, config);
    ASSERT_FALSE(source.ok()) << config;
    EXPECT_EQ(source.error().code(), ErrorCode::unsupported) << source.error().text();
  }
}

}  // namespace
}  // namespace ingot
