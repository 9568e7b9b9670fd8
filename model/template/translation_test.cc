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

TEST(Rotation, WhatIsLeftOutIsWhatTheModelsOwnCodeTakes) {
  const TemporaryFolder folder;
  const std::string sizes = R"("num_hidden_layers": 1, "hidden_size": 2, "num_attention_heads": 1})";
  const Metadata smollm3 = translated(folder, R"({"model_type": "smollm3", )" + sizes).value().metadata;
  EXPECT_EQ(smollm3.number("smollm3.rope.freq_base").value(), 2e6);
  const Metadata olmo3 = translated(folder, R"({"model_type": "olmo3", )" + sizes).value().metadata;
  EXPECT_EQ(olmo3.number("olmo2.rope.freq_base").value(), 500000);
  EXPECT_EQ(olmo3.integer("olmo2.attention.sliding_window").value(), 4096);
  const Metadata glm4 = translated(folder, R"({"model_type": "glm4", )" + sizes).value().metadata;
  EXPECT_EQ(glm4.integer("glm4.attention.key_length").value(), 128);
  EXPECT_EQ(glm4.integer("glm4.rope.dimension_count").value(), 64);
  const Metadata whole =
      translated(folder, R"({"model_type": "glm4", "partial_rotary_factor": 1, )" + sizes).value().metadata;
  EXPECT_EQ(whole.integer("glm4.rope.dimension_count").value(), 128);
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

TEST(Softcap, NullIsNoneAndNotTheUsualOne) {
  const TemporaryFolder folder;
  const std::string gemma2 = R"({"model_type": "gemma2", "num_hidden_layers": 1)";
  const Metadata without =
      translated(folder, gemma2 + R"(, "attn_logit_softcapping": null, "final_logit_softcapping": null})")
          .value()
          .metadata;
  EXPECT_EQ(without.number("gemma2.attn_logit_softcapping").value(), 0);
  EXPECT_EQ(without.number("gemma2.final_logit_softcapping").value(), 0);
  const Metadata usual = translated(folder, gemma2 + "}").value().metadata;
  EXPECT_FALSE(usual.has("gemma2.attn_logit_softcapping"));
  EXPECT_FALSE(usual.has("gemma2.final_logit_softcapping"));
}

TEST(TextPart, KnowsWhatIsNullThere) {
  const TemporaryFolder folder;
  folder.write("config.json", R"({"hidden_size": null, "text_config": {"final_logit_softcapping": null}})");
  folder.write("model.safetensors", FileBytes().text("{}").all());
  const ModelFile file = ModelFile::open(folder.path()).value();
  const ModelFile part = text_part(file, {}).value();
  EXPECT_TRUE(part.metadata().is_null("final_logit_softcapping"));
  EXPECT_FALSE(part.metadata().is_null("hidden_size"));
}

// Elements of a row are the codes 0 to 15, twice; rows of gate and up stand in turns, with exponents of their own.
TEST(PackedExperts, BecomeBlocksOfNeighboursHalfABlockApart) {
  const TemporaryFolder folder;
  folder.write("config.json", R"({"model_type": "gpt_oss", "num_hidden_layers": 1})");
  std::string bytes;
  for (int row = 0; row < 4; ++row) {
    for (int j = 0; j < 16; ++j) bytes += static_cast<char>((2 * j + 1) % 16 << 4 | 2 * j % 16);
  }
  for (const int exponent : {127, 128, 126, 129}) bytes += static_cast<char>(exponent);
  FileBytes file;
  file.text(
      R"({"model.layers.0.mlp.experts.gate_up_proj_blocks":{"dtype":"U8","shape":[1,4,1,16],"data_offsets":[0,64]},)"
      R"("model.layers.0.mlp.experts.gate_up_proj_scales":{"dtype":"U8","shape":[1,4,1],"data_offsets":[64,68]}})");
  folder.write("model.safetensors", file.raw(bytes).all());
  const Result<ModelFile> opened = ModelFile::open(folder.path());
  ASSERT_TRUE(opened.ok()) << opened.error().text();
  const Result<ModelSource> source = read_source(opened.value());
  ASSERT_TRUE(source.ok()) << source.error().text();
  constexpr float magnitudes[] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
  const auto expect_rows = [&](std::string_view name, std::initializer_list<float> factors) {
    const ConstAnyView* view = source.value().weights.find(name);
    ASSERT_NE(view, nullptr);
    ASSERT_EQ(view->dtype(), DType::mxfp4);
    ASSERT_EQ(view->shape(), (Shape{1, 2, 32}));
    std::vector<float> values(64);
    decode_all(*view, values.data());
    std::size_t at = 0;
    for (const float factor : factors) {
      for (std::size_t element = 0; element < 32; ++element, ++at) {
        const float sign = element % 16 < 8 ? 1 : -1;
        EXPECT_EQ(values[at], sign * factor * magnitudes[element % 8]) << name << " " << at;
      }
    }
  };
  expect_rows("blk.0.ffn_gate_exps.weight", {1, 0.5f});
  expect_rows("blk.0.ffn_up_exps.weight", {2, 4});
}

TEST(Settings, ThatChangeTheComputationAreNotIgnored) {
  const TemporaryFolder folder;
  for (const std::string_view config :
       {R"({"model_type": "qwen3", "num_hidden_layers": 1, "hidden_act": "relu"})",
        R"({"model_type": "gemma3_text", "num_hidden_layers": 1, "use_bidirectional_attention": true})",
        R"({"model_type": "gpt2", "n_layer": 1, "scale_attn_weights": false})",
        R"({"model_type": "bert", "num_hidden_layers": 1, "position_embedding_type": "relative_key"})",
        R"({"model_type": "olmo3", "num_hidden_layers": 1, "layer_types": ["linear_attention"]})",
        R"({"model_type": "olmo3", "num_hidden_layers": 1,
            "rope_parameters": {"sliding_attention": {"rope_type": "yarn"}}})",
        R"({"model_type": "granite", "num_hidden_layers": 1, "position_embedding_type": "nope"})",
        R"({"model_type": "smollm3", "num_hidden_layers": 2, "no_rope_layers": [1, 0]})",
        R"({"model_type": "smollm3", "num_hidden_layers": 2, "no_rope_layer_interval": 2})",
        R"({"model_type": "smollm3", "num_hidden_layers": 1, "use_sliding_window": true})",
        R"({"model_type": "smollm3", "num_hidden_layers": 1, "layer_types": ["sliding_attention"]})",
        R"({"model_type": "glm4", "num_hidden_layers": 1, "hidden_act": "gelu"})",
        R"({"model_type": "qwen3_vl", "text_config": {"num_hidden_layers": 1, "hidden_act": "gelu"}})",
        R"({"model_type": "gpt_oss", "num_hidden_layers": 1, "swiglu_limit": 6})",
        R"({"model_type": "gpt_oss", "num_hidden_layers": 1, "swiglu_alpha": 1.5})",
        R"({"model_type": "gpt_oss", "num_hidden_layers": 1, "rope_scaling": {"rope_type": "yarn"}})",
        R"({"model_type": "deepseek_v2", "num_hidden_layers": 1, "norm_topk_prob": true})",
        R"({"model_type": "deepseek_v2", "num_hidden_layers": 1, "topk_method": "other"})",
        R"({"model_type": "deepseek_v2", "num_hidden_layers": 1, "scoring_func": "sigmoid"})",
        R"({"model_type": "deepseek_v3", "num_hidden_layers": 1, "attention_bias": true})",
        R"({"model_type": "deepseek_v3", "num_hidden_layers": 1, "rope_interleave": false})",
        R"({"model_type": "deepseek_v3", "num_hidden_layers": 1, "moe_layer_freq": 2})",
        R"({"model_type": "falcon_h1", "num_hidden_layers": 1, "mamba_proj_bias": true})",
        R"({"model_type": "falcon_h1", "num_hidden_layers": 1, "mamba_rms_norm": true})",
        R"({"model_type": "lfm2", "num_hidden_layers": 1, "conv_bias": true})",
        R"({"model_type": "lfm2", "num_hidden_layers": 1, "num_key_value_heads": 1,
            "layer_types": ["sliding_attention"]})",
        R"({"model_type": "gemma3n_text", "num_hidden_layers": 1, "altup_correct_scale": false})",
        R"({"model_type": "gemma3n_text", "num_hidden_layers": 2, "intermediate_size": [8, 16]})"}) {
    const Result<ModelSource> source = translated(folder, config);
    ASSERT_FALSE(source.ok()) << config;
    EXPECT_EQ(source.error().code(), ErrorCode::unsupported) << source.error().text();
  }
}

// Tensors of no bytes may be as long as a file says: nothing may count to there.
TEST(CheckpointTensors, EmptyOnesOfManyRowsEndAtOnce) {
  const TemporaryFolder folder;
  const auto read = [&](std::string_view config, std::string_view header) {
    folder.write("config.json", config);
    FileBytes file;
    folder.write("model.safetensors", file.text(header).all());
    const ModelFile opened = ModelFile::open(folder.path()).value();
    const Result<ModelSource> source = read_source(opened);
    return source.ok() ? std::string() : std::string(source.error().text());
  };
  read(R"({"model_type": "gpt2", "n_embd": 4})",
       R"({"h.0.mlp.c_fc.weight":{"dtype":"F32","shape":[0,70368744177664],"data_offsets":[0,0]}})");
  constexpr std::string_view experts =
      R"({"model.layers.0.mlp.experts.down_proj_blocks":{"dtype":"U8","shape":[2097152,2097152,0,16],"data_offsets":[0,0]},
          "model.layers.0.mlp.experts.down_proj_scales":{"dtype":"U8","shape":[2097152,2097152,0],"data_offsets":[0,0]}})";
  EXPECT_NE(read(R"({"model_type": "gpt_oss", "num_hidden_layers": 1})", experts).find("[experts, rows, blocks]"),
            std::string::npos);
}

TEST(CheckpointTensors, TwoOfOneNameAreRefused) {
  const TemporaryFolder folder;
  folder.write("config.json", R"({"model_type": "llama"})");
  FileBytes file;
  file.text(R"({"model.norm.weight":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},
               "norm.weight":{"dtype":"F32","shape":[2],"data_offsets":[8,16]}})");
  folder.write("model.safetensors", file.raw(std::string(16, '\0')).all());
  const ModelFile opened = ModelFile::open(folder.path()).value();
  const Result<ModelSource> source = read_source(opened);
  ASSERT_FALSE(source.ok());
  EXPECT_NE(source.error().text().find("one tensor that is output_norm.weight, found norm.weight as well"),
            std::string::npos)
      << source.error().text();
}

}  // namespace
}  // namespace ingot
