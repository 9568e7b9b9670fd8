// Adapters at inference: files in both forms against what another implementation computes and against merged weights;
// and sets of them side by side.
#include <gtest/gtest.h>

#include <cstring>

#include "engine/adapter_fixture.h"
#include "engine/checkpoint_adapter.h"
#include "engine/measure.h"
#include "engine/random_adapter.h"
#include "engine/random_model.h"
#include "model/files/test_files.h"
#include "model/template/decoder_numbers.h"
#include "model/template/head_rows.h"

namespace ingot {
namespace {

const std::vector<std::string> all_matrices = {"attn_q.weight",      "attn_k.weight",   "attn_v.weight",
                                               "attn_output.weight", "ffn_gate.weight", "ffn_up.weight",
                                               "ffn_down.weight",    "output.weight"};

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

// Rows of queries and keys in the order of GGUF's files, and no word of another.
std::string write_as_gguf(const TemporaryFolder& folder, const std::string& name, const Model& model) {
  const std::string& architecture = model.facts().architecture;
  const PairStyle in_gguf = find_architecture(architecture).value()->pairs_in_gguf;
  const bool moves = read_pair_style(model.metadata(), in_gguf).value() != in_gguf;
  Metadata metadata;
  for (const Metadata::Entry& entry : model.metadata().entries()) {
    if (entry.key == rope_style_key) continue;
    EXPECT_TRUE(metadata.add_view(entry.key, entry.value).ok());
  }
  const TurnedHeads heads = moves ? turned_heads(Keys(metadata, architecture)).value() : TurnedHeads();
  Weights moved;
  std::vector<TensorToWrite> tensors;
  for (const auto& [weight, view] : model.weights().all()) {
    tensors.push_back(tensor_to_write({weight, view}));
    const std::int64_t count = heads.of(weight);
    if (count == 0 || view.rank() != 2) continue;
    const AnyView target = moved.add_owned(weight, view.dtype(), view.shape()).value();
    for (std::int64_t row = 0; row < view.size(0); ++row) {
      std::memcpy(target.row(row), view.row(row_before_interleaving(row, view.size(0) / count)),
                  static_cast<std::size_t>(row_bytes(view.dtype(), view.size(1))));
    }
    tensors.back() = tensor_to_write({weight, target});
  }
  const std::string path = folder.file(name);
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
  const auto gguf = opened(write_as_gguf(folder, "neighbours.gguf", *checkpoint));
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

// A head without a matrix of its own reads the table of embeddings, in which tokens are looked up too: what an adapter
// adds to the head, it must not add there.
TEST(Adapter, AHeadThatIsTheTableHasItsOwn) {
  const TemporaryFolder folder;
  const auto random = opened((RandomModel(folder.file("random.gguf")), folder.file("random.gguf")));
  const auto written = [&](const std::string& name, bool has_head) {
    std::vector<TensorToWrite> tensors;
    for (const auto& [weight, view] : random->weights().all()) {
      if (weight != "output.weight") tensors.push_back(tensor_to_write({weight, view}));
    }
    if (has_head) tensors.push_back(tensor_to_write({"output.weight", *random->weights().find("token_embd.weight")}));
    EXPECT_TRUE(write_gguf(folder.file(name), random->metadata(), tensors).ok());
    return opened(folder.file(name));
  };
  const auto tied = written("tied.gguf", false), two = written("two.gguf", true);
  RandomAdapter adapter(*two, {"output.weight"}, 3, 1);
  ASSERT_TRUE(adapter.write(folder.file("a.gguf")).ok());
  ASSERT_TRUE(write_merged(*two, {{&adapter, 1}}, folder.file("merged.gguf")).ok());
  const std::vector<std::int32_t> tokens = arbitrary_tokens(9, tied->facts().vocabulary);
  const auto expected = session_with(opened(folder.file("merged.gguf")), {});
  const auto of_head = adapter_at(folder.file("a.gguf"), *tied);
  ASSERT_NE(of_head, nullptr);
  const auto found = session_with(tied, {of_head}, {1});
  EXPECT_LT(difference(logits_of(*expected, tokens), logits_of(*found, tokens)), 1e-5);
  ASSERT_TRUE(RandomAdapter(*two, {"token_embd.weight"}, 3, 1).write(folder.file("table.gguf")).ok());
  const Result<std::shared_ptr<const Adapter>> of_table = Adapter::open(folder.file("table.gguf"), *tied);
  ASSERT_FALSE(of_table.ok());
  EXPECT_NE(of_table.error().text().find("not a table of embeddings"), std::string::npos) << of_table.error().text();
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

// --- what checkpoints call matrices ---

class AdapterNames : public testing::TestWithParam<std::string> {};

TEST_P(AdapterNames, OfACheckpointFitItAndItsGguf) {
  const CheckpointAdapter made(GetParam());
  const auto checkpoint = opened(golden_folder(GetParam())), merged = opened(made.folder.file("merged"));
  ASSERT_TRUE(checkpoint != nullptr && merged != nullptr);
  const auto gguf = opened(write_as_gguf(made.folder, "model.gguf", *checkpoint));
  const auto merged_gguf = opened(write_as_gguf(made.folder, "merged.gguf", *merged));
  ASSERT_TRUE(gguf != nullptr && merged_gguf != nullptr);
  const std::vector<std::int32_t> tokens = arbitrary_tokens(8, checkpoint->facts().vocabulary);
  const auto computed = [&](const std::shared_ptr<const Model>& model, const Adapters& adapters) {
    const auto session = session_with(model, adapters, AdapterScales(adapters.size(), 1));
    const View<const float> rows = session->forward({session->sequences().add().value(), tokens, Wanted::all}).value();
    return std::vector<float>(rows.data(), rows.data() + rows.count());
  };
  for (const auto& [model, expected] : {std::pair(checkpoint, merged), {gguf, merged_gguf}}) {
    if (model == gguf && GetParam() == "falcon_h1") continue;  // refused: below
    const auto adapter = adapter_at(made.folder.file("adapter"), *model);
    ASSERT_NE(adapter, nullptr);
    EXPECT_EQ(adapter->weights(), static_cast<std::size_t>(made.matrices));
    const std::vector<float> found = computed(model, {adapter});
    EXPECT_LT(difference(computed(expected, {}), found), 1e-5);
    EXPECT_GT(difference(computed(model, {}), found), 1e-2) << "it was computed at all";
  }
}

INSTANTIATE_TEST_SUITE_P(Architectures, AdapterNames, testing::ValuesIn(golden_names()),
                         [](const auto& instance) { return instance.param; });

// Its GGUF files have the multipliers of products in the weights, and say them nowhere.
TEST(AdapterNamesOf, FalconH1NeedTheFolder) {
  const CheckpointAdapter made("falcon_h1");
  const auto gguf = opened(write_as_gguf(made.folder, "model.gguf", *opened(golden_folder("falcon_h1"))));
  const Result<std::shared_ptr<const Adapter>> adapter = Adapter::open(made.folder.file("adapter"), *gguf);
  ASSERT_FALSE(adapter.ok());
  EXPECT_NE(adapter.error().text().find("expected a falcon-h1 model as a folder"), std::string::npos)
      << adapter.error().text();
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

}  // namespace
}  // namespace ingot
