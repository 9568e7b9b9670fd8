// What a file says beside its weights, and what it says too much.
#include "engine/model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <filesystem>
#include <fstream>

#include "engine/embedding.h"
#include "engine/golden_model.h"
#include "engine/sampling_advice.h"
#include "model/files/gguf_writer.h"
#include "model/files/test_files.h"
#include "model/template/decoder_numbers.h"

namespace ingot {
namespace {

// A golden model as a GGUF file, with changes.
class GgufOfGolden {
 public:
  explicit GgufOfGolden(const std::string& name)
      : file_(ModelFile::open(golden_folder(name)).value()), source_(read_source(file_).value()) {
    for (const auto& [tensor, view] : source_.weights.all()) tensors_.push_back(tensor_to_write({tensor, view}));
  }

  Metadata& metadata() { return source_.metadata; }
  void add(const std::string& name) {
    names_.push_back(name);  // what is written views it
    tensors_.push_back(tensor_to_write(names_.back(), DType::f32, {4}, std::as_bytes(std::span(numbers_))));
  }
  Result<std::shared_ptr<const Model>> open() const {
    TRY(write_gguf(folder_.file("model.gguf"), source_.metadata, tensors_));
    return Model::open(folder_.file("model.gguf"));
  }
  std::string refusal() const {
    const Result<std::shared_ptr<const Model>> model = open();
    return model.ok() ? "" : std::string(model.error().text());
  }

 private:
  TemporaryFolder folder_;
  ModelFile file_;
  ModelSource source_;
  std::vector<TensorToWrite> tensors_;
  std::deque<std::string> names_;
  float numbers_[4] = {1, 2, 3, 4};
};

// A golden's folder with further files.
class FolderOfGolden {
 public:
  explicit FolderOfGolden(const std::string& name) {
    std::filesystem::copy(golden_folder(name), folder_.file("model"), std::filesystem::copy_options::recursive);
  }
  void write(const std::string& name, std::string_view text) const {
    const std::filesystem::path path = std::filesystem::path(folder_.file("model")) / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  Result<std::shared_ptr<const Model>> open() const { return Model::open(folder_.file("model")); }

 private:
  TemporaryFolder folder_;
};

bool mentions(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST(UnreadTensors, AreRefusedByName) {
  for (const char* name : {"blk.0.attn_norm.bias", "blk.0.attn_sinks.weight", "blk.99.attn_norm.weight", "output.bias",
                           "rope_factors_long.weight"}) {
    GgufOfGolden gguf("llama");
    gguf.add(name);
    EXPECT_TRUE(mentions(gguf.refusal(), name)) << name << ": " << gguf.refusal();
  }
}

TEST(UnreadTensors, AreAcceptedWhereOthersLeaveThemOutToo) {
  GgufOfGolden encoder("bert");
  encoder.add("cls.weight");
  EXPECT_EQ(encoder.refusal(), "");

  GgufOfGolden decoder("llama");
  decoder.add("blk.0.attn_rot_embd.weight");
  EXPECT_EQ(decoder.refusal(), "");
  const std::int64_t layers = decoder.metadata().integer("llama.block_count").value();
  decoder.add("blk." + std::to_string(layers) + ".nextn.eh_proj.weight");
  EXPECT_TRUE(mentions(decoder.refusal(), "nextn")) << decoder.refusal();
  decoder.metadata().set_integer("llama.block_count", layers + 1);
  decoder.metadata().set_integer("llama.nextn_predict_layers", 1);
  EXPECT_EQ(decoder.refusal(), "");
}

TEST(Rotation, OfAnUnknownKindIsRefused) {
  GgufOfGolden style("llama");
  style.metadata().set_text(rope_style_key, "spiral");
  EXPECT_TRUE(mentions(style.refusal(), "expected interleaved or half_split, found spiral")) << style.refusal();
  GgufOfGolden scaling("llama");
  scaling.metadata().set_text("llama.rope.scaling.type", "dynamic");
  EXPECT_TRUE(mentions(scaling.refusal(), "found dynamic")) << scaling.refusal();
  scaling.metadata().set_text("llama.rope.scaling.type", "longrope");
  EXPECT_TRUE(mentions(scaling.refusal(), "rope_factors_long")) << scaling.refusal();
}

TEST(Rotation, OfALongerScaleReachesFurtherThanTheModelWasTrained) {
  GgufOfGolden gguf("llama");
  const auto facts = [&gguf] { return gguf.open().value()->facts(); };
  const std::int64_t context = facts().context;
  EXPECT_EQ(facts().scaled_context, context);
  gguf.metadata().set_text("llama.rope.scaling.type", "yarn");
  gguf.metadata().set_number("llama.rope.scaling.factor", 4);
  EXPECT_EQ(facts().scaled_context, context);  // which may be what is scaled, or what comes of it
  gguf.metadata().set_integer("llama.rope.scaling.original_context_length", context);
  EXPECT_EQ(facts().scaled_context, 4 * context);
  EXPECT_EQ(facts().context, context);
  gguf.metadata().set_number("llama.rope.scaling.factor", 0.5);
  EXPECT_EQ(facts().scaled_context, context);
}

// What transformers calls the default kind there: neither frequencies nor the size of cos and sin change.
TEST(Rotation, OfLayersWithAWindowIsNotScaled) {
  for (const auto& [golden, prefix] :
       {std::pair("olmo3", "olmo2"), std::pair("gemma3_text", "gemma3"), std::pair("gemma3n_text", "gemma3n")}) {
    const ModelFile file = ModelFile::open(golden_folder(golden)).value();
    ModelSource source = read_source(file).value();
    const Keys keys(source.metadata, prefix);
    source.metadata.set_text(keys.key("rope.scaling.type"), "yarn");
    source.metadata.set_number(keys.key("rope.scaling.factor"), 4);
    source.metadata.set_number(keys.key("rope.scaling.attn_factor"), 1.5);
    const auto form = create_template(source).value();
    CircuitBuilder builder(source.weights, {.runs = {3}});
    form->emit(builder);
    const Circuit circuit = builder.finish().value();
    const std::vector<bool> slides = read_sliding_layers(source, prefix, form->facts().layers, 1).value();
    int sliding = 0;
    int whole = 0;
    for (const Step& step : circuit.steps) {
      if (step.operation->name != "position.rope") continue;
      const bool is_sliding = slides[static_cast<std::size_t>(step.layer)];
      ++(is_sliding ? sliding : whole);
      EXPECT_EQ(*step.find_attribute("attention_factor"), AttributeValue(is_sliding ? 0 : 1.5)) << step.name;
      const RopeScaling expected = is_sliding ? RopeScaling::none : RopeScaling::yarn;
      EXPECT_EQ(step.integer("scaling"), static_cast<std::int64_t>(expected)) << step.name;
    }
    EXPECT_GT(sliding, 0) << golden;
    EXPECT_GT(whole, 0) << golden;
  }
}

// A file's magnitude counts from the one that the factor gives by itself, unless scores have that one.
TEST(Rotation, OfAFileIsAsLargeAsItsReadersMakeIt) {
  GgufOfGolden gguf("llama");
  const auto magnitude = [&gguf] { return gguf.open().value()->metadata().number("llama.rope.scaling.attn_factor"); };
  gguf.metadata().set_text("llama.rope.scaling.type", "yarn");
  gguf.metadata().set_number("llama.rope.scaling.factor", 4);
  EXPECT_FALSE(magnitude().ok());
  gguf.metadata().set_number("llama.rope.scaling.attn_factor", 1.5);
  EXPECT_DOUBLE_EQ(magnitude().value(), 1.5 * (1 + 0.1 * std::log(4)));
  gguf.metadata().set_number("llama.rope.scaling.yarn_log_multiplier", 0.1);
  EXPECT_EQ(magnitude().value(), 1.5);
  gguf.metadata().set_number("llama.rope.scaling.yarn_log_multiplier", 0);
  gguf.metadata().set_number("llama.rope.scaling.factor", 0.5);
  EXPECT_EQ(magnitude().value(), 1.5);
  gguf.metadata().set_number("llama.rope.scaling.factor", 4);
  gguf.metadata().set_text("llama.rope.scaling.type", "linear");
  EXPECT_EQ(magnitude().value(), 1.5);
}

TEST(Softcap, OfGemma3nIsLeftOutWhereNull) {
  const FolderOfGolden folder("gemma3n_text");
  std::ifstream file(golden_folder("gemma3n_text") / "config.json");
  std::string config(std::istreambuf_iterator<char>(file), {});
  const std::string given = R"("final_logit_softcapping": 5.0)";
  ASSERT_NE(config.find(given), std::string::npos);
  folder.write("config.json", config.replace(config.find(given), given.size(), R"("final_logit_softcapping": null)"));
  const auto model = folder.open();
  ASSERT_TRUE(model.ok()) << model.error().text();
  EXPECT_EQ(model.value()->metadata().number("gemma3n.final_logit_softcapping").value(), 0);
}

using Vectors = std::vector<std::vector<float>>;

Vectors vectors_of(const Result<std::shared_ptr<const Model>>& model) {
  if (!model.ok()) {
    ADD_FAILURE() << model.error().text();
    return {};
  }
  const std::vector<std::int32_t> tokens = {5, 9, 2};
  const auto session = Session::create(model.value(), {.cache = DType::f32, .context = 16});
  return embeddings_of(*session.value(), tokens).value();
}

TEST(Pooling, FollowsTheFile) {
  GgufOfGolden gguf("bert");
  const auto pooled = [&](std::int64_t type) {
    gguf.metadata().set_integer("bert.pooling_type", type);
    return vectors_of(gguf.open());
  };
  const auto each = pooled(0);
  ASSERT_EQ(each.size(), 3u);
  EXPECT_EQ(pooled(2), Vectors{each[0]});
  EXPECT_EQ(pooled(3), Vectors{each[2]});
  const auto mean = pooled(1);
  ASSERT_EQ(mean.size(), 1u);
  EXPECT_NE(mean[0], each[0]);
  gguf.metadata().set_integer("bert.pooling_type", 4);
  EXPECT_TRUE(
      mentions(gguf.refusal(), "bert.pooling_type: expected 0 (none), 1 (mean), 2 (cls) or 3 (last), found 4 (rank)"))
      << gguf.refusal();

  const FolderOfGolden folder("bert");
  EXPECT_EQ(vectors_of(folder.open()), mean) << "what sentence-transformers does where nothing is said";
  folder.write(
      "1_Pooling/config.json",
      R"({"word_embedding_dimension": 32, "pooling_mode_cls_token": true, "pooling_mode_mean_tokens": false})");
  EXPECT_EQ(vectors_of(folder.open()), Vectors{each[0]});
  folder.write("1_Pooling/config.json", R"({"pooling_mode": "lasttoken"})");
  EXPECT_EQ(vectors_of(folder.open()), Vectors{each[2]});
  folder.write("1_Pooling/config.json", R"({"pooling_mode_max_tokens": true})");
  EXPECT_TRUE(mentions(std::string(folder.open().error().text()), "found max_tokens")) << folder.open().error().text();
}

// As llama.cpp has it: a file without the key pools nothing.
TEST(Pooling, OfAFileThatDoesNotSayIsNone) {
  GgufOfGolden gguf("bert");
  gguf.metadata().set_integer("bert.pooling_type", -1);
  EXPECT_EQ(vectors_of(gguf.open()).size(), 3u);
}

TEST(SamplingAdvice, ComesFromGgufKeys) {
  GgufOfGolden gguf("llama");
  SamplerOptions options;
  follow(read_sampling_advice(gguf.metadata()).value(), options);
  EXPECT_EQ(options.temperature, 0) << "nothing is advised";
  gguf.metadata().set_number("general.sampling.temp", 0.5);
  gguf.metadata().set_number("general.sampling.top_p", 0.75);
  gguf.metadata().set_integer("general.sampling.top_k", 40);
  gguf.metadata().set_number("general.sampling.penalty_repeat", 1.25);
  gguf.metadata().set_integer("general.sampling.penalty_last_n", -1);
  const auto model = gguf.open();
  ASSERT_TRUE(model.ok()) << model.error().text();
  follow(read_sampling_advice(model.value()->metadata()).value(), options);
  EXPECT_EQ(options.temperature, 0.5);
  EXPECT_EQ(options.top_p, 0.75);
  EXPECT_EQ(options.top_k, 40);
  EXPECT_EQ(options.repetition, 1.25);
  EXPECT_GT(options.penalty_window, 1 << 20);
  gguf.metadata().set_integer("general.sampling.mirostat", 2);
  EXPECT_TRUE(mentions(std::string(read_sampling_advice(gguf.metadata()).error().text()), "general.sampling.mirostat"));
}

TEST(SamplingAdvice, ComesFromGenerationConfig) {
  const FolderOfGolden folder("llama");
  const auto advised = [&](std::string_view text) {
    folder.write("generation_config.json", text);
    return read_sampling_advice(folder.open().value()->metadata()).value();
  };
  const SamplingAdvice advice = advised(R"({"do_sample": true, "temperature": 0.6, "top_k": 20, "top_p": 0.95,
                                            "repetition_penalty": 1.05, "eos_token_id": [3, 7]})");
  EXPECT_EQ(advice.temperature, 0.6);
  EXPECT_EQ(advice.top_k, 20);
  EXPECT_EQ(advice.top_p, 0.95);
  EXPECT_EQ(advice.repetition, 1.05);
  EXPECT_EQ(advised(R"({"do_sample": true})").temperature, 1);
  EXPECT_FALSE(advised(R"({"temperature": 0.6})").temperature) << "nothing is drawn there unless do_sample says so";
}

TEST(EndTokens, OfGenerationConfigEndAnAnswerToo) {
  const FolderOfGolden folder("llama");
  folder.write("tokenizer.json", R"({"model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "c": 2}, "merges": []}})");
  folder.write("generation_config.json", R"({"eos_token_id": [0, 2]})");
  const auto model = folder.open();
  ASSERT_TRUE(model.ok()) << model.error().text();
  const Result<const Tokenizer*> tokenizer = model.value()->tokenizer();
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.error().text();
  EXPECT_TRUE(tokenizer.value()->is_end_of_generation(0));
  EXPECT_FALSE(tokenizer.value()->is_end_of_generation(1));
  EXPECT_TRUE(tokenizer.value()->is_end_of_generation(2));

  folder.write("generation_config.json", R"({"eos_token_id": 3})");
  const auto other = folder.open();
  ASSERT_TRUE(other.ok()) << other.error().text();
  ASSERT_FALSE(other.value()->tokenizer().ok());
  EXPECT_TRUE(mentions(std::string(other.value()->tokenizer().error().text()), "generation_config.json"));
}

}  // namespace
}  // namespace ingot
