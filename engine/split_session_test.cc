// Sessions whose first layers run on the host because a device, which is emulated here, has no memory for all of them.
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/device_memory.h"
#include "engine/explanation.h"
#include "engine/golden_comparison.h"
#include "engine/golden_model.h"
#include "engine/mixed_texts.h"
#include "engine/sampler.h"
#include "machine/gpu/emulated/device.h"

namespace ingot {
namespace {

using Tokens = std::vector<std::int32_t>;

const Tokens prompt = {5, 9, 2, 40, 7, 3, 11, 8, 1, 30};
constexpr std::size_t plenty = std::size_t{1} << 30;

std::shared_ptr<EmulatedDevice> device_with(std::size_t bytes) {
  return std::shared_ptr<EmulatedDevice>(EmulatedDevice::create({.memory_bytes = bytes}).value());
}

std::shared_ptr<const Model> golden(const std::string& name) {
  Result<std::shared_ptr<const Model>> model = Model::open(golden_folder(name));
  if (model.ok()) return model.value();
  ADD_FAILURE() << model.error().text();
  return nullptr;
}

SessionOptions short_session() { return {.context = 32, .sequences = 2, .page_length = 4}; }

// With so many layers on the host; -1: all of it.
std::unique_ptr<Session> session_of(const std::shared_ptr<const Model>& model, std::int64_t host_layers,
                                    SessionOptions options = short_session()) {
  if (host_layers >= 0) {
    Result<std::shared_ptr<const DeviceModel>> there =
        DeviceModel::upload(model, device_with(plenty), {}, {.host_layers = host_layers});
    if (!there.ok()) ADD_FAILURE() << there.error().text();
    options.device = there.value();
  }
  Result<std::unique_ptr<Session>> made = Session::create(model, options);
  if (!made.ok()) ADD_FAILURE() << made.error().text();
  return std::move(made).value();
}

std::vector<float> logits_of(Session& session, int sequence, const Tokens& tokens) {
  const Result<View<const float>> found = session.forward({sequence, tokens, Wanted::last});
  EXPECT_TRUE(found.ok()) << (found.ok() ? "" : found.error().text());
  return found.ok() ? std::vector<float>(found.value().data(), found.value().data() + found.value().count())
                    : std::vector<float>();
}

Tokens greedy_tokens(Session& session, int count) {
  const int sequence = session.sequences().add().value();
  Tokens said;
  Tokens next = prompt;
  for (; count > 0; --count) {
    const std::vector<float> found = logits_of(session, sequence, next);
    next = {static_cast<std::int32_t>(std::ranges::max_element(found) - found.begin())};
    said.push_back(next[0]);
  }
  session.sequences().remove(sequence);
  return said;
}

// Chosen on the device; each pass is asked for before the token of the last one was.
Tokens chosen_tokens(Session& session, int count) {
  const int sequence = session.sequences().add().value();
  Tokens said;
  ChosenRun run{.sequence = sequence, .tokens = prompt};
  for (int pass = 0; pass < count; ++pass) {
    const Result<void> begun = session.begin_choosing(std::span(&run, 1));
    EXPECT_TRUE(begun.ok()) << (begun.ok() ? "" : begun.error().text());
    if (pass > 0) said.push_back(session.chosen().value()[0]);
    run = {.sequence = sequence, .goes_on = true};
  }
  said.push_back(session.chosen().value()[0]);
  session.sequences().remove(sequence);
  return said;
}

class SplitSession : public testing::TestWithParam<const char*> {};

TEST_P(SplitSession, SaysWhatTheHostSaysWhereverItIsSplit) {
  const std::shared_ptr<const Model> model = golden(GetParam());
  const Tokens expected = greedy_tokens(*session_of(model, -1), 8);
  for (std::int64_t host_layers = 1; host_layers <= model->facts().layers; ++host_layers) {
    const std::unique_ptr<Session> split = session_of(model, host_layers);
    EXPECT_EQ(split->host_layers(), host_layers);
    EXPECT_EQ(greedy_tokens(*split, 8), expected) << host_layers;
    EXPECT_EQ(chosen_tokens(*split, 8), expected) << host_layers;
  }
}

INSTANTIATE_TEST_SUITE_P(Goldens, SplitSession,
                         testing::Values("llama", "gemma2", "gemma3_text", "mixtral", "phi3", "qwen3", "gpt2"));

TEST(SplitSession, EmbeddingsAreNearTheHosts) {
  const std::shared_ptr<const Model> model = golden("bert");
  const auto vectors_of = [&](std::int64_t host_layers) {
    const std::unique_ptr<Session> session = session_of(model, host_layers);
    const int sequence = session->sequences().add().value();
    const Result<View<const float>> found = session->forward({sequence, prompt, Wanted::all});
    EXPECT_TRUE(found.ok()) << (found.ok() ? "" : found.error().text());
    return std::vector<float>(found.value().data(), found.value().data() + found.value().count());
  };
  const std::vector<float> expected = vectors_of(-1);
  for (std::int64_t host_layers = 1; host_layers <= model->facts().layers; ++host_layers) {
    const std::vector<float> found = vectors_of(host_layers);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t index = 0; index < found.size(); ++index) ASSERT_NEAR(found[index], expected[index], 1e-3);
  }
}

// Layer by layer, on both sides of where it is split.
TEST(SplitSession, AgreesWithWhatWasRecorded) {
  const Golden recorded = Golden::open(golden_folder("llama") / "golden.safetensors").value();
  SessionOptions options = short_session();
  options.context = 64;
  options.cache = DType::f32;
  const std::unique_ptr<Session> split = session_of(golden("llama"), 1, options);
  const Result<GoldenComparison> compared = compare_with_golden(*split, recorded, 1e-3);
  ASSERT_TRUE(compared.ok()) << compared.error().text();
  EXPECT_GT(compared.value().checkpoints.size(), 2U);
  EXPECT_FALSE(compared.value().first_divergence.has_value());
}

// Where the host's rows are asked for it, too.
TEST(SplitSession, NeighboursNeverShowWhereTheyMustNot) {
  const std::shared_ptr<const Model> model = Model::open_default().value();
  mixed_texts::expect_mixes(model, 1, DType::f16,
                            DeviceModel::upload(model, device_with(plenty), {}, {.host_layers = 2}).value());
}

// Step by step, recorded, replayed, and over places that have moved: all the same to the bit.
TEST(SplitSession, RecordedPassesGiveTheSameBits) {
  const std::unique_ptr<Session> split = session_of(golden("llama"), 1);
  const auto logits_of_each = [&] {
    std::vector<std::vector<float>> all;
    const int sequence = split->sequences().add().value();
    for (const std::int32_t token : prompt) all.push_back(logits_of(*split, sequence, {token}));
    split->sequences().remove(sequence);
    return all;
  };
  split->observe([](std::size_t) {});
  const auto step_by_step = logits_of_each();
  EXPECT_EQ(split->recording_seconds(), 0);
  split->observe({});
  EXPECT_EQ(logits_of_each(), step_by_step);
  const double recorded = split->recording_seconds();
  EXPECT_GT(recorded, 0);
  const int other = split->sequences().add().value();
  logits_of(*split, other, Tokens(24, 3));  // needs larger arenas
  split->sequences().remove(other);
  EXPECT_EQ(logits_of_each(), step_by_step);
  EXPECT_GT(split->recording_seconds(), recorded);
}

TEST(SplitSession, ForksShareThePastOfBothPlaces) {
  const std::unique_ptr<Session> split = session_of(golden("llama"), 1);
  const int first = split->sequences().add().value();
  logits_of(*split, first, prompt);  // two pages and a half
  const int second = split->sequences().fork(first).value();
  const std::vector<float> expected = logits_of(*split, first, {4});
  logits_of(*split, first, {9});
  EXPECT_EQ(logits_of(*split, second, {4}), expected);
}

TEST(SplitSession, LayersOfTheHostTakeNothingOfTheDevice) {
  const std::shared_ptr<const Model> model = golden("llama");
  const std::int64_t layers = model->facts().layers;
  ASSERT_GE(layers, 2);
  DeviceNeeds last = {.weights = plenty, .cache = plenty};
  for (std::int64_t host_layers = 0; host_layers <= layers; ++host_layers) {
    const std::shared_ptr<EmulatedDevice> device = device_with(plenty);
    SessionOptions options = short_session();
    const DeviceNeeds needs = Session::needs_on(device->information(), model, options, host_layers).value();
    options.device = DeviceModel::upload(model, device, {}, {.host_layers = host_layers}).value();
    EXPECT_EQ(options.device->bytes(), needs.weights);
    const std::unique_ptr<Session> split = Session::create(model, options).value();
    greedy_tokens(*split, 4);
    const DeviceMemoryState state = device->memory_state().value();
    EXPECT_LE(state.total_bytes - state.free_bytes, needs.total() + (std::size_t{1} << 20)) << host_layers;
    EXPECT_LT(needs.weights, last.weights) << host_layers;
    EXPECT_LT(needs.cache, last.cache) << host_layers;
    EXPECT_LE(split->device_bytes(), state.total_bytes - state.free_bytes) << host_layers;
    last = needs;
  }
}

TEST(SplitSession, AsFewLayersStayAsTheMemoryDemands) {
  const std::shared_ptr<const Model> model = Model::open_default().value();
  const std::int64_t layers = model->facts().layers;
  const DeviceInformation information = device_with(plenty)->information();
  const auto layers_with = [&](std::size_t bytes) {
    return find_host_layers(*device_with(bytes), model, short_session());
  };
  const auto needs_with = [&](std::int64_t host_layers) {
    return Session::needs_on(information, model, short_session(), host_layers).value().total();
  };
  EXPECT_EQ(layers_with(needs_with(0)).value(), 0);
  int tried = 0;
  for (std::int64_t host_layers = 1; host_layers <= layers; ++host_layers) {
    // A sixteenth of it stays free.
    const std::size_t bytes = needs_with(host_layers) * 16 / 15 + 16;
    if (bytes >= needs_with(host_layers - 1)) continue;  // with so little, that is more than a layer
    EXPECT_EQ(layers_with(bytes).value(), host_layers);
    ++tried;
  }
  EXPECT_GT(tried, 1);
  const Result<std::int64_t> too_little = layers_with(1000);
  ASSERT_FALSE(too_little.ok());
  EXPECT_NE(too_little.error().text().find("found 1000 of 1000 free: end what else"), std::string_view::npos)
      << too_little.error().text();
}

TEST(SplitSession, RecurrentModelsAreRefusedByName) {
  const std::shared_ptr<const Model> model = golden("mamba");
  const Result<std::int64_t> refused = find_host_layers(*device_with(1000), model, short_session());
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().text().find("without recurrent states, found mamba"), std::string_view::npos)
      << refused.error().text();
}

TEST(SplitSession, AnExplanationShowsWhatRunsWhereAndWhatCrosses) {
  const std::shared_ptr<const Model> model = golden("llama");
  const std::unique_ptr<Session> split = session_of(model, 1);
  const Result<Explanation> made = explain(*split, {}, Machine::detect(), {}, 2);
  ASSERT_TRUE(made.ok()) << made.error().text();
  const std::vector<ExplainedStep>& steps = made.value().steps;
  const auto crossing = std::ranges::find(steps, StepPlace::crossing, &ExplainedStep::place);
  ASSERT_NE(crossing, steps.end());
  EXPECT_EQ(crossing->operation, "layout.copy");
  EXPECT_TRUE(crossing->name.ends_with("@device")) << crossing->name;
  for (auto step = steps.begin(); step != steps.end(); ++step) {
    if (step == crossing) continue;
    EXPECT_EQ(step->place, step < crossing ? StepPlace::host : StepPlace::device) << step->name;
    EXPECT_EQ(step->variant == "cuda", step > crossing) << step->name;
    EXPECT_LT(step->layer, step < crossing ? 1 : model->facts().layers) << step->name;
    EXPECT_GT(step->measured_seconds, 0) << step->name;
  }
}

}  // namespace
}  // namespace ingot
