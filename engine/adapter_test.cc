// Adapters at inference: files in both forms against what another implementation computes and against merged weights;
// sets of them side by side; and files that are wrong.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "engine/golden_model.h"
#include "engine/measure.h"
#include "engine/random_adapter.h"
#include "engine/random_model.h"
#include "model/files/test_files.h"
#include "model/template/decoder_numbers.h"
#include "model/template/head_rows.h"

namespace ingot {
namespace {

using Adapters = std::vector<std::shared_ptr<const Adapter>>;

const std::vector<std::string> all_matrices = {"attn_q.weight",      "attn_k.weight",   "attn_v.weight",
                                               "attn_output.weight", "ffn_gate.weight", "ffn_up.weight",
                                               "ffn_down.weight",    "output.weight"};

std::shared_ptr<const Model> opened(const std::string& path) {
  Result<std::shared_ptr<const Model>> model = Model::open(path);
  if (!model.ok()) ADD_FAILURE() << model.error().text();
  return model.ok() ? model.value() : nullptr;
}

std::shared_ptr<const Adapter> adapter_at(const std::string& path, const Model& model) {
  Result<std::shared_ptr<const Adapter>> adapter = Adapter::open(path, model);
  if (!adapter.ok()) ADD_FAILURE() << adapter.error().text();
  return adapter.ok() ? adapter.value() : nullptr;
}

std::string error_of(const std::string& path, const Model& model) {
  const Result<std::shared_ptr<const Adapter>> adapter = Adapter::open(path, model);
  return adapter.ok() ? "" : std::string(adapter.error().text());
}

std::unique_ptr<Session> session_with(std::shared_ptr<const Model> model, Adapters adapters, AdapterScales scales = {},
                                      SessionOptions options = {}) {
  options.cache = DType::f32;
  options.sequences = 4;
  options.context = 48;
  options.adapters = std::move(adapters);
  options.adapter_scales = std::move(scales);
  Result<std::unique_ptr<Session>> session = Session::create(std::move(model), std::move(options));
  if (!session.ok()) ADD_FAILURE() << session.error().text();
  return session.ok() ? std::move(session).value() : nullptr;
}

// Of all tokens of a new sequence: a prompt, a short run and single ones.
std::vector<float> logits_of(Session& session, std::span<const std::int32_t> tokens) {
  std::vector<float> all;
  const int sequence = session.sequences().add().value();
  for (std::size_t begin = 0; begin < tokens.size();) {
    const std::size_t count = begin == 0 ? tokens.size() / 2 : begin < tokens.size() - 3 ? 2 : 1;
    const Result<View<const float>> found =
        session.forward({sequence, tokens.subspan(begin, std::min(count, tokens.size() - begin)), Wanted::all});
    if (!found.ok()) {
      ADD_FAILURE() << found.error().text();
      break;
    }
    all.insert(all.end(), found.value().data(), found.value().data() + found.value().count());
    begin += count;
  }
  session.sequences().remove(sequence);
  return all;
}

// The largest difference, relative to the largest number that was expected.
double difference(std::span<const float> expected, std::span<const float> found) {
  EXPECT_EQ(expected.size(), found.size());
  double largest = 0, worst = 0;
  for (std::size_t index = 0; index < std::min(expected.size(), found.size()); ++index) {
    largest = std::max(largest, std::fabs(double{expected[index]}));
    const double error = std::fabs(double{expected[index]} - found[index]);
    worst = std::isnan(error) ? HUGE_VAL : std::max(worst, error);
  }
  return worst / largest;
}

// --- what peft computes (tests/goldens/make_adapter_goldens.py) ---

struct GoldenLogits {
  GoldenLogits()
      : file(SafetensorsFile::open(golden_folder("adapters") / "logits.safetensors").value()),
        base(SafetensorsFile::open(golden_folder("llama") / "golden.safetensors").value()) {
    const StoredTensors stored = base.tensors().value();
    const auto ids = stored.find("tokens.0")->view.as<const std::int64_t>();
    for (std::int64_t i = 0; i < ids.size(0); ++i) tokens.push_back(static_cast<std::int32_t>(ids(i)));
  }
  std::vector<float> of(const std::string& set) const {
    const StoredTensors stored = file.tensors().value();
    const ConstAnyView& view = stored.find("logits." + set)->view;
    std::vector<float> values(static_cast<std::size_t>(view.count()));
    decode_all(view, values.data());
    return values;
  }
  SafetensorsFile file, base;
  std::vector<std::int32_t> tokens;
};

Adapters golden_adapters(const Model& model) {
  return {adapter_at(golden_folder("adapters") / "first", model),
          adapter_at(golden_folder("adapters") / "second", model)};
}

void expect_goldens(const std::shared_ptr<const Model>& model, const Adapters& adapters) {
  const GoldenLogits golden;
  for (const auto& [set, scales] :
       {std::pair<std::string, AdapterScales>{"first", {1}}, {"second", {0, 1}}, {"both", {1, 1}}}) {
    const auto session = session_with(model, adapters, scales);
    ASSERT_NE(session, nullptr);
    EXPECT_LT(difference(golden.of(set), logits_of(*session, golden.tokens)), 1e-5) << set;
  }
}

TEST(Adapter, GivesWhatPeftGives) {
  const auto model = opened(golden_folder("llama"));
  ASSERT_NE(model, nullptr);
  expect_goldens(model, golden_adapters(*model));
}

// Rows of queries and keys in the order of GGUF's llamas, and no word of another.
std::string write_with_neighbours(const TemporaryFolder& folder, const Model& model) {
  Metadata metadata;
  for (const Metadata::Entry& entry : model.metadata().entries()) {
    if (entry.key == rope_style_key) continue;
    EXPECT_TRUE(metadata.add_view(entry.key, entry.value).ok());
  }
  const TurnedHeads heads = turned_heads(Keys(metadata, "llama")).value();
  Weights moved;
  std::vector<TensorToWrite> tensors;
  for (const auto& [name, view] : model.weights().all()) {
    tensors.push_back(tensor_to_write({name, view}));
    const std::int64_t count = heads.of(name);
    if (count == 0) continue;
    const AnyView target = moved.add_owned(name, view.dtype(), view.shape()).value();
    for (std::int64_t row = 0; row < view.size(0); ++row) {
      std::memcpy(target.row(row), view.row(row_before_interleaving(row, view.size(0) / count)),
                  static_cast<std::size_t>(row_bytes(view.dtype(), view.size(1))));
    }
    tensors.back() = tensor_to_write({name, target});
  }
  const std::string path = folder.file("neighbours.gguf");
  const Result<void> written = write_gguf(path, metadata, tensors);
  EXPECT_TRUE(written.ok()) << written.error().text();
  return path;
}

// The golden adapters as the converter of others writes them.
std::string write_adapter_with_neighbours(const TemporaryFolder& folder, const std::string& name, const Model& model) {
  const auto adapter = adapter_at(golden_folder("adapters") / name, model);
  Metadata metadata;
  metadata.set_text("general.type", "adapter");
  metadata.set_text("general.architecture", "llama");
  metadata.set_text("adapter.type", "lora");
  std::vector<std::string> names;
  Weights scaled;
  for (const auto& [weight, pair] : adapter->all()) {
    for (const std::string_view suffix : {first_adapter_suffix, second_adapter_suffix})
      names.push_back(weight + std::string(suffix));
    // Factors differ by module, and the form has one alpha: it goes into A.
    const AnyView first = scaled.add_owned(weight, DType::f32, pair.first.shape()).value();
    decode_all(pair.first, reinterpret_cast<float*>(first.data()));
    for (std::int64_t i = 0; i < first.count(); ++i) {
      reinterpret_cast<float*>(first.data())[i] *= static_cast<float>(pair.factor);
    }
  }
  std::vector<TensorToWrite> tensors;
  for (const auto& [weight, pair] : adapter->all()) {
    const std::size_t at = tensors.size();
    tensors.push_back(tensor_to_write({names[at], *scaled.find(weight)}));
    tensors.push_back(tensor_to_write({names[at + 1], pair.second}));
  }
  const std::string path = folder.file(name + ".gguf");
  const Result<void> written = write_gguf(path, metadata, tensors);
  EXPECT_TRUE(written.ok()) << written.error().text();
  return path;
}

TEST(Adapter, RowsOfHeadsAreMovedWhereTheModelHasThemOtherwise) {
  const TemporaryFolder folder;
  const auto checkpoint = opened(golden_folder("llama"));
  ASSERT_NE(checkpoint, nullptr);
  const auto gguf = opened(write_with_neighbours(folder, *checkpoint));
  ASSERT_NE(gguf, nullptr);
  expect_goldens(gguf, golden_adapters(*gguf));
  // As GGUF, of a model as GGUF and of the checkpoint.
  const std::string first = write_adapter_with_neighbours(folder, "first", *gguf);
  const std::string second = write_adapter_with_neighbours(folder, "second", *gguf);
  for (const auto& model : {gguf, checkpoint}) {
    expect_goldens(model, {adapter_at(first, *model), adapter_at(second, *model)});
  }
}

// --- merged weights ---

struct RandomPair {
  RandomPair()
      : base((RandomModel(folder.file("base.gguf")), opened(folder.file("base.gguf")))),
        first(*base, all_matrices, 5, 1),
        second(*base, {"attn_q.weight", "ffn_up.weight", "output.weight"}, 1, 2, 2) {
    EXPECT_TRUE(first.write(folder.file("first.gguf")).ok());
    EXPECT_TRUE(second.write(folder.file("second.gguf")).ok());
    adapters = {adapter_at(folder.file("first.gguf"), *base), adapter_at(folder.file("second.gguf"), *base)};
    tokens = arbitrary_tokens(20, base->facts().vocabulary);
  }
  TemporaryFolder folder;
  std::shared_ptr<const Model> base;
  RandomAdapter first, second;
  Adapters adapters;
  std::vector<std::int32_t> tokens;
};

TEST(Adapter, EqualsMergedWeights) {
  const RandomPair pair;
  for (const AdapterScales& scales : {AdapterScales{1}, {1, 1}, {-0.5f, 2}}) {
    const double second = scales.size() > 1 ? double{scales[1]} : 0;
    const std::string merged = pair.folder.file("merged.gguf");
    ASSERT_TRUE(write_merged(*pair.base, {{&pair.first, scales[0]}, {&pair.second, second}}, merged).ok());
    const auto expected = session_with(opened(merged), {});
    for (const bool rewrites : {true, false}) {
      const auto session = session_with(pair.base, pair.adapters, scales, {.rewrites = rewrites});
      EXPECT_LT(difference(logits_of(*expected, pair.tokens), logits_of(*session, pair.tokens)), 1e-5);
    }
  }
}

// Of block formats, where queries, keys and values, or gate and up, are one product and weights may be packed.
TEST(Adapter, FusedAndPackedProductsGiveWhatPlainOnesGive) {
  const auto model = Model::open_default().value();
  const TemporaryFolder folder;
  RandomAdapter adapter(*model, all_matrices, 4, 3, 4);
  ASSERT_TRUE(adapter.write(folder.file("a.gguf")).ok());
  const Adapters adapters = {adapter_at(folder.file("a.gguf"), *model)};
  const std::vector<std::int32_t> tokens = arbitrary_tokens(24, model->facts().vocabulary);
  const auto plain = session_with(model, adapters, {1}, {.rewrites = false, .packing = WeightPacking::never});
  const std::vector<float> expected = logits_of(*plain, tokens);
  for (const WeightPacking packing : {WeightPacking::always, WeightPacking::never}) {
    const auto session = session_with(model, adapters, {1}, {.threads = 2, .packing = packing});
    // Activations become codes: where a rounding flips, a whole code does.
    EXPECT_LT(difference(expected, logits_of(*session, tokens)), 0.02);
    const Circuit& circuit = session->plan_for({.runs = {1}, .outputs = 1}).value()->circuit();
    EXPECT_EQ(circuit.rewrites.front().name, "adapters");
    EXPECT_GT(circuit.rewrites.front().count, 0);
  }
  const auto without = session_with(model, {});
  EXPECT_GT(difference(logits_of(*without, tokens), expected), 0.05) << "it was computed at all";
}

TEST(Adapter, AZeroAdapterChangesNoBit) {
  const TemporaryFolder folder;
  const auto model = Model::open_default().value();
  RandomAdapter adapter(*model, all_matrices, 4, 3);
  for (auto& [name, pair] : adapter.matrices()) std::ranges::fill(pair.second, 0.0f);
  ASSERT_TRUE(adapter.write(folder.file("zero.gguf")).ok());
  const std::vector<std::int32_t> tokens = arbitrary_tokens(12, model->facts().vocabulary);
  const SessionOptions plain = {.rewrites = false};
  const auto session = session_with(model, {adapter_at(folder.file("zero.gguf"), *model)}, {1}, plain);
  EXPECT_EQ(logits_of(*session, tokens), logits_of(*session_with(model, {}, {}, plain), tokens));
}

// --- sets side by side ---

TEST(Adapter, SequencesOfDifferentSetsGoTogetherAndForksKeepTheirs) {
  const RandomPair pair;
  const std::vector<AdapterScales> sets = {{}, {1}, {0, 0.5f}, {1}};
  const auto session = session_with(pair.base, pair.adapters, {}, {.deterministic = true});
  std::vector<std::vector<float>> alone;
  for (const AdapterScales& set : sets) {
    const auto own = session_with(pair.base, pair.adapters, set, {.deterministic = true});
    alone.push_back(logits_of(*own, pair.tokens));
  }
  std::vector<TokenRun> runs;
  for (const AdapterScales& set : sets) {
    const int sequence = session->sequences().add().value();
    ASSERT_TRUE(session->use_adapters(sequence, set).ok());
    runs.push_back({sequence, pair.tokens, Wanted::all});
  }
  const View<const float> together = session->forward(runs).value();
  const auto rows = alone[0].size();
  for (std::size_t index = 0; index < sets.size(); ++index) {
    const std::span found(together.data() + index * rows, rows);
    EXPECT_TRUE(std::ranges::equal(found, alone[index])) << "sequence " << index;
  }
  session->sequences().remove(runs[0].sequence);
  const int fork = session->sequences().fork(runs[2].sequence).value();
  EXPECT_EQ(session->sequences().adapters(fork), sets[2]);
  const std::int32_t next[] = {7};
  const TokenRun both[] = {
      {fork, next, Wanted::last}, {runs[1].sequence, next, Wanted::last}, {runs[2].sequence, next, Wanted::last}};
  const View<const float> went_on = session->forward(both).value();
  EXPECT_TRUE(std::equal(&went_on(0, 0), &went_on(0, 0) + went_on.size(1), &went_on(2, 0)));
  EXPECT_FALSE(std::equal(&went_on(0, 0), &went_on(0, 0) + went_on.size(1), &went_on(1, 0)));
}

TEST(Adapter, AnotherSetEmptiesASequence) {
  const RandomPair pair;
  const auto session = session_with(pair.base, pair.adapters);
  const int sequence = session->sequences().add().value();
  ASSERT_TRUE(session->forward({sequence, pair.tokens, Wanted::none}).ok());
  ASSERT_TRUE(session->use_adapters(sequence, std::vector<float>{0, 0}).ok());
  EXPECT_EQ(session->sequences().length(sequence), std::ssize(pair.tokens)) << "it is the set that it has";
  ASSERT_TRUE(session->use_adapters(sequence, std::vector<float>{0.5f}).ok());
  EXPECT_EQ(session->sequences().length(sequence), 0);
  session->sequences().remove(sequence);
  const int next = session->sequences().add().value();
  EXPECT_EQ(next, sequence);
  EXPECT_TRUE(session->sequences().adapters(next).empty()) << "a new sequence has none";
  for (const std::vector<float>& scales : {std::vector<float>{0, 0, 1}, {std::nanf("")}, {HUGE_VALF}, {1e6f}}) {
    EXPECT_FALSE(session->use_adapters(next, scales).ok());
  }
}

// --- files that are wrong ---

TEST(Adapter, AFileThatDoesNotFitIsRefusedByName) {
  const TemporaryFolder folder;
  const auto model = opened((RandomModel(folder.file("base.gguf")), folder.file("base.gguf")));
  const std::string path = folder.file("a.gguf");
  const auto refused = [&](const std::function<void(RandomAdapter&)>& change) {
    RandomAdapter adapter(*model, {"blk.1.attn_q.weight", "ffn_down.weight"}, 3, 1);
    change(adapter);
    EXPECT_TRUE(adapter.write(path).ok());
    return error_of(path, *model);
  };
  const auto renamed = [&](const std::string& name) {
    return refused([&](RandomAdapter& adapter) {
      auto node = adapter.matrices().extract("blk.1.attn_q.weight");
      node.key() = name;
      adapter.matrices().insert(std::move(node));
    });
  };
  EXPECT_EQ(refused([](RandomAdapter&) {}), "");
  EXPECT_NE(renamed("blk.7.attn_q.weight").find("'blk.7.attn_q.weight': expected a weight of the model"),
            std::string::npos);
  EXPECT_NE(renamed("token_embd.weight").find("'token_embd.weight': expected a matrix that products read"),
            std::string::npos);
  EXPECT_NE(renamed("blk.1.attn_norm.weight").find("products read"), std::string::npos);
  EXPECT_NE(
      renamed("blk.1.attn_k.weight").find("expected an adapter of the model's [64, 256], found one of [256, 256]"),
      std::string::npos);
  const auto with_key = [&](const std::string& key, const std::string& value) {
    return refused([&](RandomAdapter& adapter) { adapter.metadata.set_text(key, value); });
  };
  EXPECT_NE(with_key("general.architecture", "qwen2").find("expected an adapter of llama"), std::string::npos);
  EXPECT_NE(with_key("general.type", "model").find("general.type: expected adapter"), std::string::npos);
  EXPECT_NE(with_key("adapter.type", "control_vector").find("adapter.type: expected lora"), std::string::npos);
  EXPECT_NE(with_key("adapter.alora.invocation_tokens", "x").find("alora"), std::string::npos);
  EXPECT_NE(refused([](RandomAdapter& adapter) {
              adapter.metadata.set_number("adapter.lora.alpha", std::nan(""));
            }).find("finite alpha"),
            std::string::npos);
  EXPECT_NE(refused([](RandomAdapter& adapter) { adapter.metadata.set_integer("split.count", 2); }).find("split.count"),
            std::string::npos);
  EXPECT_NE(refused([](RandomAdapter& adapter) {
              adapter.matrices().begin()->second.second_shape = {256, 3, 1};
            }).find("of one rank"),
            std::string::npos);
  EXPECT_NE(error_of(folder.file("base.gguf"), *model).find("general.type: expected adapter, found 'model'"),
            std::string::npos);
  EXPECT_NE(error_of(folder.path(), *model).find("adapter_config.json"), std::string::npos);
}

TEST(Adapter, SettingsThatAreNotComputedAreRefusedByName) {
  const TemporaryFolder folder;
  const auto model = opened(golden_folder("llama"));
  const auto refused = [&](const std::string& field) {
    folder.write("adapter_config.json", R"({"peft_type":"LORA","r":4,"lora_alpha":6,"bias":"none")" + field + "}");
    return error_of(folder.path(), *model);
  };
  std::filesystem::copy(golden_folder("adapters") / "first" / "adapter_model.safetensors", folder.path());
  for (const std::string harmless :
       {R"()", R"(,"fan_in_fan_out":true)", R"(,"use_dora":false,"modules_to_save":null,"layer_replication":[])",
        R"(,"init_lora_weights":"gaussian","target_modules":["q_proj"],"peft_version":"9")"}) {
    EXPECT_EQ(refused(harmless), "") << harmless;
  }
  for (const auto& [field, named] : std::vector<std::pair<std::string, std::string>>{
           {R"("use_dora":true)", "use_dora"},
           {R"("modules_to_save":["lm_head"])", "modules_to_save"},
           {R"("lora_bias":true)", "lora_bias"},
           {R"("bias":"all")", "bias"},
           {R"("peft_type":"IA3")", "peft_type"},
           {R"("layer_replication":[[0,1],[0,2]])", "layer_replication"},
           {R"("init_lora_weights":"pissa_niter_4")", "init_lora_weights"},
           {R"("target_parameters":["experts"])", "target_parameters"},
           {R"("trainable_token_indices":[1])", "trainable_token_indices"},
           {R"("alora_invocation_tokens":[1,2])", "alora_invocation_tokens"},
           {R"("something_new":{"a":1})", "something_new"},
           {R"("rank_pattern":{"q_.*":4})", "rank_pattern"},
           {R"("rank_pattern":{"q_proj":8})", "q_proj"},
           {R"("rank_pattern":5)", "rank_pattern"}}) {
    std::string text = refused("," + field);
    EXPECT_NE(text.find(named), std::string::npos) << field << ": " << text;
  }
}

// Bytes flipped, numbers overwritten, files cut: an error or an adapter, never a crash or a flood of memory.
TEST(Adapter, SurvivesHostileFiles) {
  const TemporaryFolder folder;
  const auto model = opened(golden_folder("llama"));
  RandomAdapter adapter(*model, {"attn_q.weight", "ffn_down.weight"}, 3, 1);
  ASSERT_TRUE(adapter.write(folder.file("good.gguf")).ok());
  const auto text_of = [](const std::string& path) { return std::string(MappedFile::open(path).value().text()); };
  const std::string gguf = text_of(folder.file("good.gguf"));
  const std::string tensors = text_of(golden_folder("adapters") / "second" / "adapter_model.safetensors");
  const std::string settings = text_of(golden_folder("adapters") / "second" / "adapter_config.json");
  int errors = 0, results = 0;
  const auto open = [&](const std::string& path) {
    const Result<std::shared_ptr<const Adapter>> found = Adapter::open(path, *model);
    ++(found.ok() ? results : errors);
    EXPECT_TRUE(found.ok() || !found.error().text().empty());
    if (found.ok()) session_with(model, {found.value()}, {1})->plan_for({.runs = {1}, .outputs = 1}).value();
  };
  std::mt19937_64 random(5);
  const auto mutated = [&](std::string bytes, int round, std::size_t head) {
    if (round % 4 == 0) return bytes.substr(0, random() % bytes.size());
    const std::size_t at = random() % std::min(head, bytes.size() - 8);
    const std::uint64_t number = round % 4 == 1 ? random() : round % 4 == 2 ? ~std::uint64_t{0} >> random() % 64 : 0;
    std::memcpy(bytes.data() + at, &number, round % 4 == 1 ? 1 : 8);
    return bytes;
  };
  for (int round = 0; round < 100; ++round) {
    folder.write("bad.gguf", mutated(gguf, round, 600));
    open(folder.file("bad.gguf"));
  }
  for (int round = 0; round < 100; ++round) {
    folder.write("adapter_model.safetensors", round % 2 == 0 ? mutated(tensors, round / 2, 1200) : tensors);
    folder.write("adapter_config.json", round % 2 == 1 ? mutated(settings, round / 2, settings.size()) : settings);
    open(folder.path());
  }
  EXPECT_EQ(errors + results, 200);
  EXPECT_GT(errors, 80);
}

}  // namespace
}  // namespace ingot
