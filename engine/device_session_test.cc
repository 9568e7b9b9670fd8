// Sessions whose passes run on a device, which is emulated here: what they say, and in which order host and device
// take turns.
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/golden_model.h"
#include "engine/mixed_texts.h"
#include "engine/sampler.h"
#include "kernels/all_operations.h"
#include "machine/machine.h"

namespace ingot {
namespace {

using Tokens = std::vector<std::int32_t>;

const Tokens prompt = {5, 9, 2, 40, 7, 3, 11, 8, 1, 30};

std::shared_ptr<const Model> golden(const std::string& name) {
  Result<std::shared_ptr<const Model>> model = Model::open(golden_folder(name));
  if (model.ok()) return model.value();
  ADD_FAILURE() << model.error().text();
  return nullptr;
}

// A golden model on the host, or on a device.
struct Played {
  explicit Played(const std::string& name, bool on_device = true, SessionOptions options = {}) {
    const std::shared_ptr<const Model> model = golden(name);
    options.context = 32;
    options.page_length = 4;
    if (on_device) {
      std::shared_ptr<Device> device = std::move(open_device("emulated")).value();
      Result<std::shared_ptr<const DeviceModel>> there = DeviceModel::upload(model, device);
      if (!there.ok()) ADD_FAILURE() << there.error().text();
      options.device = there.value();
    }
    Result<std::unique_ptr<Session>> made = Session::create(model, options);
    if (!made.ok()) ADD_FAILURE() << made.error().text();
    session = std::move(made).value();
  }

  std::vector<float> logits(int sequence, const Tokens& tokens) const {
    const Result<View<const float>> found = session->forward({sequence, tokens, Wanted::last});
    EXPECT_TRUE(found.ok()) << (found.ok() ? "" : found.error().text());
    return found.ok() ? std::vector<float>(found.value().data(), found.value().data() + found.value().count())
                      : std::vector<float>();
  }
  std::int32_t most_likely(int sequence, const Tokens& tokens) const {
    const std::vector<float> found = logits(sequence, tokens);
    return static_cast<std::int32_t>(std::ranges::max_element(found) - found.begin());
  }
  Tokens greedy_tokens(int count) const {
    const int sequence = session->sequences().add().value();
    Tokens said = {most_likely(sequence, prompt)};
    while (std::ssize(said) < count) said.push_back(most_likely(sequence, {said.back()}));
    session->sequences().remove(sequence);
    return said;
  }
  // Each pass begins before the token of the one before it is known.
  Tokens tokens_ahead(int count, Sampler& sampler) const {
    const int sequence = session->sequences().add().value();
    Tokens said;
    ChosenRun run{.sequence = sequence, .tokens = prompt, .choice = sampler.next_choice()};
    for (int pass = 0; pass < count; ++pass) {
      const Result<void> begun = session->begin_choosing(std::span(&run, 1));
      EXPECT_TRUE(begun.ok()) << (begun.ok() ? "" : begun.error().text());
      if (pass > 0) said.push_back(session->chosen().value()[0]);
      run = {.sequence = sequence, .tokens = {}, .choice = sampler.next_choice(), .goes_on = true};
    }
    said.push_back(session->chosen().value()[0]);
    session->sequences().remove(sequence);
    return said;
  }

  std::unique_ptr<Session> session;
};

Sampler sampler_of(const Session& session, const SamplerOptions& options = {}) {
  return std::move(Sampler::create(session.table(), options)).value();
}

// An emulated device that notes launches, waits, and when addresses are given back.
class NotingDevice final : public Device {
 public:
  using Notes = std::vector<std::string>;
  explicit NotingDevice(Notes& notes) : notes_(notes), played_(std::move(open_device("emulated")).value()) {}

  const DeviceInformation& information() const override { return played_->information(); }
  Result<DeviceMemoryState> memory_state() override { return played_->memory_state(); }
  Result<DeviceMemory> allocate(std::size_t bytes) override { return played_->allocate(bytes); }
  Result<PinnedMemory> allocate_pinned(std::size_t bytes) override { return played_->allocate_pinned(bytes); }
  Result<std::unique_ptr<AddressRange>> reserve(std::size_t capacity) override {
    return std::unique_ptr<AddressRange>(new NotingRange(notes_, TRY(played_->reserve(capacity))));
  }
  Result<std::unique_ptr<Queue>> make_queue() override {
    return std::unique_ptr<Queue>(new NotingQueue(notes_, TRY(played_->make_queue())));
  }
  Result<void> disturb(int turn) override { return played_->disturb(turn); }
  int disturbances() const override { return played_->disturbances(); }

 private:
  struct NotingRange final : AddressRange {
    NotingRange(Notes& all, std::unique_ptr<AddressRange> range) : notes(all), played(std::move(range)) {}
    ~NotingRange() override { notes.emplace_back("addresses"); }
    Result<void> grow_to(std::size_t bytes) override { return played->grow_to(bytes); }
    std::byte* data() const override { return played->data(); }
    std::size_t size() const override { return played->size(); }
    std::size_t capacity() const override { return played->capacity(); }
    Notes& notes;
    std::unique_ptr<AddressRange> played;
  };
  struct NotingQueue final : Queue {
    NotingQueue(Notes& all, std::unique_ptr<Queue> queue) : notes(all), played(std::move(queue)) {}
    void launch(const DeviceFunction& function, const LaunchShape& shape,
                std::span<const std::byte> parameters) override {
      notes.emplace_back("launch");
      played->launch(function, shape, parameters);
    }
    void copy_in(std::byte* to, const std::byte* from, std::size_t bytes) override { played->copy_in(to, from, bytes); }
    void copy_out(std::byte* to, const std::byte* from, std::size_t bytes) override {
      played->copy_out(to, from, bytes);
    }
    void copy_within(std::byte* to, const std::byte* from, std::size_t bytes) override {
      played->copy_within(to, from, bytes);
    }
    void fill(std::byte* to, std::uint8_t value, std::size_t bytes) override { played->fill(to, value, bytes); }
    void name_step(std::string_view step) override { played->name_step(step); }
    Result<std::unique_ptr<Mark>> make_mark() override { return played->make_mark(); }
    Result<void> begin_recording() override { return played->begin_recording(); }
    Result<std::unique_ptr<Recording>> end_recording() override { return played->end_recording(); }
    void replay(const Recording& recording) override { played->replay(recording); }
    Result<void> wait() override {
      notes.emplace_back("wait");
      return played->wait();
    }
    Notes& notes;
    std::unique_ptr<Queue> played;
  };
  void release(MemoryKind, std::byte*, std::size_t) override {}  // what it gave is the played one's

  Notes& notes_;
  std::unique_ptr<Device> played_;
};

class DeviceSession : public testing::TestWithParam<const char*> {};

TEST_P(DeviceSession, SaysWhatTheHostSays) {
  const Played host(GetParam(), false);
  const Played device(GetParam());
  const Tokens expected = host.greedy_tokens(8);
  EXPECT_EQ(device.greedy_tokens(8), expected);
  Sampler greedy = sampler_of(*device.session);
  EXPECT_EQ(device.tokens_ahead(8, greedy), expected);
}

INSTANTIATE_TEST_SUITE_P(Goldens, DeviceSession,
                         testing::Values("llama", "gemma2", "gemma3_text", "mixtral", "phi3", "qwen3", "gpt2"));

// The logits are the device's, so the same numbers draw the same tokens unless two of them are all but equal.
TEST(DeviceSession, DrawsAsTheHostDraws) {
  const SamplerOptions options = {.temperature = 0.8, .top_k = 40, .top_p = 0.95, .min_p = 0.01, .seed = 7};
  const Played device("llama");
  Sampler of_host = sampler_of(*device.session, options);
  Sampler of_device = sampler_of(*device.session, options);
  const int sequence = device.session->sequences().add().value();
  Tokens expected;
  Tokens next = prompt;
  for (int count = 0; count < 12; ++count) {
    Context context = device.session->context_for_kernels();
    next = {of_host.choose(device.logits(sequence, next), context).value()};
    expected.push_back(next[0]);
  }
  device.session->sequences().remove(sequence);
  EXPECT_EQ(device.tokens_ahead(12, of_device), expected);
}

TEST(DeviceSession, RulesOfARowDoNotShowInAnother) {
  const Played device("llama", true, {.sequences = 2});
  Sampler greedy = sampler_of(*device.session);
  const Tokens alone = device.tokens_ahead(1, greedy);
  const ChoiceRule warm = {.temperature = 1.5};
  std::vector<ChosenRun> runs;
  for (int row = 0; row < 2; ++row) {
    runs.push_back({.sequence = device.session->sequences().add().value(), .tokens = prompt});
  }
  runs[0].choice = {.rule = warm, .uniform = 0.999f};
  ASSERT_TRUE(device.session->begin_choosing(runs).ok());
  const auto said = device.session->chosen();
  ASSERT_TRUE(said.ok()) << said.error().text();
  EXPECT_EQ(said.value().size(), 2U);
  EXPECT_EQ(said.value()[1], alone[0]);
}

// Step by step, recorded and replayed, over a place that has moved since: all the same to the bit.
TEST(DeviceSession, RecordedPassesGiveTheSameBits) {
  const Played device("llama", true, {.sequences = 2});
  const auto logits_of_each = [&] {
    std::vector<std::vector<float>> all;
    const int sequence = device.session->sequences().add().value();
    for (const std::int32_t token : prompt) all.push_back(device.logits(sequence, {token}));
    device.session->sequences().remove(sequence);
    return all;
  };
  device.session->observe([](std::size_t) {});
  const auto step_by_step = logits_of_each();
  EXPECT_EQ(device.session->recording_seconds(), 0);
  device.session->observe({});
  EXPECT_EQ(logits_of_each(), step_by_step);
  const double recorded = device.session->recording_seconds();
  EXPECT_GT(recorded, 0);
  EXPECT_EQ(logits_of_each(), step_by_step);
  EXPECT_EQ(device.session->recording_seconds(), recorded);
  const int other = device.session->sequences().add().value();
  device.logits(other, Tokens(24, 3));  // needs a larger arena
  device.session->sequences().remove(other);
  EXPECT_EQ(logits_of_each(), step_by_step);
  EXPECT_GT(device.session->recording_seconds(), recorded);
}

TEST(DeviceSession, SmallStepsAreJoined) {
  const Played device("llama");
  const Plan& plan = *device.session->plan_for({.runs = {1}, .outputs = 1}).value();
  const auto count = [&](std::string_view operation) {
    return std::ranges::count_if(plan.circuit().steps,
                                 [&](const Step& step) { return step.operation->name == operation; });
  };
  EXPECT_GT(count("cache.rotated_store_paged"), 0);
  EXPECT_EQ(count("position.joint_rope") + count("cache.joint_store_paged"), 0);
  EXPECT_EQ(count("position.rope") + count("cache.store_paged"), 0);
}

TEST(DeviceSession, LongPromptsGoThroughInParts) {
  const Played whole("llama");
  const Played parts("llama", true, {.chunk = 4});
  Sampler greedy = sampler_of(*whole.session);
  EXPECT_EQ(parts.tokens_ahead(4, greedy), whole.tokens_ahead(4, greedy));
}

TEST(DeviceSession, MoreSequencesThanAChunkHasTokensGoOn) {
  const auto said = [](std::int64_t chunk) {
    const Played device("llama", true, {.sequences = 3, .chunk = chunk});
    std::vector<ChosenRun> runs(3);
    for (std::size_t row = 0; row < runs.size(); ++row) {
      runs[row] = {.sequence = device.session->sequences().add().value(), .tokens = std::span(prompt).first(row + 2)};
    }
    Tokens tokens;
    for (int pass = 0; pass < 3; ++pass) {
      const Result<void> begun = device.session->begin_choosing(runs);
      EXPECT_TRUE(begun.ok()) << (begun.ok() ? "" : begun.error().text());
      const std::span<const std::int32_t> chosen = device.session->chosen().value();
      tokens.insert(tokens.end(), chosen.begin(), chosen.end());
      for (ChosenRun& run : runs) run = {.sequence = run.sequence, .goes_on = true};
    }
    for (const ChosenRun& run : runs)
      tokens.push_back(static_cast<int>(device.session->sequences().length(run.sequence)));
    return tokens;
  };
  EXPECT_EQ(said(2), said(256));
}

TEST(DeviceSession, TurnsAreKept) {
  const Played device("llama", true, {.sequences = 2});
  Session& session = *device.session;
  const int first = session.sequences().add().value();
  const int second = session.sequences().add().value();
  const ChosenRun begins{.sequence = first, .tokens = prompt};
  const ChosenRun goes_on{.sequence = first, .goes_on = true};
  const ChosenRun other{.sequence = second, .goes_on = true};
  EXPECT_FALSE(session.begin_choosing(std::span(&goes_on, 1)).ok());  // nothing was chosen
  ASSERT_TRUE(session.begin_choosing(std::span(&begins, 1)).ok());
  EXPECT_FALSE(session.forward({first, prompt, Wanted::last}).ok());
  EXPECT_FALSE(session.begin_choosing(std::span(&begins, 1)).ok());
  EXPECT_FALSE(session.begin_choosing(std::span(&other, 1)).ok());
  ASSERT_TRUE(session.begin_choosing(std::span(&goes_on, 1)).ok());
  EXPECT_FALSE(session.begin_choosing(std::span(&goes_on, 1)).ok());  // two are under way
  EXPECT_EQ(session.passes_under_way(), 2);
  EXPECT_TRUE(session.chosen().ok());
  EXPECT_TRUE(session.chosen().ok());
  EXPECT_EQ(session.sequences().length(first), std::ssize(prompt) + 1);
  EXPECT_TRUE(session.forward({first, prompt, Wanted::last}).ok());
  EXPECT_FALSE(session.begin_choosing(std::span(&goes_on, 1)).ok());  // another pass came since
}

// Its keys and values are given back first, and a pass may be under way that reads them.
TEST(DeviceSession, EndsWhenItsPassesHave) {
  NotingDevice::Notes notes;
  const std::shared_ptr<const Model> model = golden("llama");
  ASSERT_NE(model, nullptr);
  SessionOptions options = {.context = 32, .page_length = 4};
  options.device = DeviceModel::upload(model, std::make_shared<NotingDevice>(notes)).value();
  std::unique_ptr<Session> session = Session::create(model, options).value();
  const ChosenRun run{.sequence = session->sequences().add().value(), .tokens = prompt};
  ASSERT_TRUE(session->begin_choosing(std::span(&run, 1)).ok());
  EXPECT_EQ(session->passes_under_way(), 1);
  ASSERT_EQ(notes.back(), "launch");
  session.reset();
  const auto last_launch = std::find(notes.rbegin(), notes.rend(), "launch").base();
  const auto given_back = std::find(last_launch, notes.end(), "addresses");
  ASSERT_NE(given_back, notes.end());
  EXPECT_NE(std::find(last_launch, given_back, "wait"), given_back);
}

TEST(DeviceSession, PagesTakeMemoryWhenTheyAreUsed) {
  const Played device("llama", true, {.sequences = 4});
  SequenceMemory& memory = device.session->sequences();
  EXPECT_EQ(memory.bytes(), 0U);
  const int sequence = memory.add().value();
  ASSERT_TRUE(memory.reserve(sequence, 4).ok());
  const std::size_t one_page = memory.bytes();
  EXPECT_GT(one_page, 0U);
  ASSERT_TRUE(memory.reserve(sequence, 8).ok());
  EXPECT_EQ(memory.bytes(), 2 * one_page);
  EXPECT_EQ(memory.most_bytes(), 32 * one_page);
}

// Of long contexts it may be the scratch of a token of each sequence that takes most.
TEST(DeviceSession, PassesOfAllSequencesAreAmongWhatItNeeds) {
  const std::shared_ptr<const Model> model = golden("llama");
  ASSERT_NE(model, nullptr);
  const std::shared_ptr<Device> device = std::move(open_device("emulated")).value();
  SessionOptions options = {.cache = DType::f32, .context = 1 << 16, .sequences = 64, .pages = 64};
  const DeviceNeeds needs = Session::needs_on(device->information(), model, options).value();
  options.device = DeviceModel::upload(model, device).value();
  const std::unique_ptr<Session> session = Session::create(model, options).value();
  const Plan& plan = *session->plan_for({.runs = std::vector<std::int64_t>(64, 1), .outputs = 64}).value();
  EXPECT_LE(static_cast<std::size_t>(plan.arena_bytes()) + plan.scratch_bytes(), needs.passes);
}

// Of block formats: their sums are exact, block by block, and added in one order.
TEST(DeviceSession, NeighboursNeverShow) {
  const std::shared_ptr<const Model> model = Model::open_default().value();
  const std::shared_ptr<Device> device = std::move(open_device("emulated")).value();
  const std::shared_ptr<const DeviceModel> there = DeviceModel::upload(model, device).value();
  for (const DType cache : {DType::f16, DType::q8_0}) mixed_texts::expect_mixes(model, 1, cache, there);
}

// Adapters of tests/goldens/adapters, of a model whose first layer may stay on the host.
TEST(DeviceSession, AdaptersGiveWhatTheyGiveOnTheHost) {
  const std::shared_ptr<const Model> model = golden("llama");
  ASSERT_NE(model, nullptr);
  SessionOptions options = {.cache = DType::f32, .context = 32, .sequences = 2, .page_length = 4};
  for (const char* name : {"first", "second"}) {
    options.adapters.push_back(Adapter::open(golden_folder("adapters") / name, *model).value());
  }
  const auto logits = [&](std::int64_t host_layers, bool on_device) {
    SessionOptions own = options;
    if (on_device) {
      own.device =
          DeviceModel::upload(model, std::move(open_device("emulated")).value(), {}, {.host_layers = host_layers})
              .value();
    }
    const auto session = Session::create(model, own).value();
    std::vector<TokenRun> runs;
    for (const AdapterScales& scales : {AdapterScales{1, 0.5f}, {0, 1}}) {
      runs.push_back({session->sequences().add().value(), prompt, Wanted::last});
      EXPECT_TRUE(session->use_adapters(runs.back().sequence, scales).ok());
    }
    const View<const float> found = session->forward(runs).value();
    return std::vector<float>(found.data(), found.data() + found.count());
  };
  const std::vector<float> expected = logits(0, false);
  for (const std::int64_t host_layers : {0, 1}) {
    const std::vector<float> found = logits(host_layers, true);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) ASSERT_NEAR(found[i], expected[i], 1e-3) << host_layers;
  }
}

}  // namespace
}  // namespace ingot
