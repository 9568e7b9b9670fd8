#include "engine/measure.h"

#include <gtest/gtest.h>

#include <numeric>

#include "engine/golden_model.h"

namespace ingot {
namespace {

TEST(MeasurePass, AccountsForEveryStepAndLeavesTheSessionAsItWas) {
  const auto session = golden_session("llama", {.context = 64});
  ASSERT_NE(session, nullptr);
  const PassRequest request{.tokens = 4, .depth = 7};
  const Result<PassTiming> timing = measure_pass(*session, request, 5);
  ASSERT_TRUE(timing.ok()) << timing.error().text();
  const Plan& plan = *session->plan_for(request.shape(session->model().facts())).value();
  ASSERT_EQ(timing.value().step_seconds.size(), plan.circuit().steps.size());
  for (const double seconds : timing.value().step_seconds) EXPECT_GT(seconds, 0);
  EXPECT_GT(timing.value().accounted, 0.3);  // of passes that last microseconds
  EXPECT_LE(timing.value().accounted, 1);
  EXPECT_FALSE(session->sequences().has(0));
}

TEST(MeasurePass, RefusesWhatDoesNotFit) {
  const auto session = golden_session("llama", {.context = 16, .chunk = 8});
  ASSERT_NE(session, nullptr);
  EXPECT_FALSE(measure_pass(*session, {.tokens = 9, .depth = 0}, 1).ok());
  EXPECT_FALSE(measure_pass(*session, {.tokens = 1, .depth = 16}, 1).ok());
  EXPECT_FALSE(measure_pass(*session, {.tokens = 0, .depth = 0}, 1).ok());
  EXPECT_TRUE(measure_pass(*session, {.tokens = 1, .depth = 15}, 1).ok());
}

TEST(TrafficOf, CountsEveryMatrixOnceAndTheFilledPartOfTheCache) {
  const auto session = golden_session("llama", {.context = 64});
  ASSERT_NE(session, nullptr);
  const PassShape shape = PassRequest{}.shape(session->model().facts());
  const Plan& plan = *session->plan_for(shape).value();
  const Traffic empty = traffic_of({plan, shape, 0});
  const Traffic filled = traffic_of({plan, shape, 31});
  EXPECT_EQ(filled.weights, empty.weights);
  EXPECT_GT(filled.cache, 8 * empty.cache);
  double matrices = 0;
  for (const auto& [name, view] : session->model().weights().all()) {
    if (view.rank() == 2 && name != "token_embd.weight") matrices += static_cast<double>(view.count()) * 4;  // f32
  }
  EXPECT_GE(empty.weights, matrices);
  EXPECT_LE(empty.weights, 1.5 * matrices);
}

TEST(MeasureGeneration, YieldsRatesForABatch) {
  const auto session = golden_session("llama", {.context = 32, .sequences = 2});
  ASSERT_NE(session, nullptr);
  int rounds = 0;
  const GenerationRequest request{.prompt = 8, .generate = 4, .depth = 5, .batch = 2, .repeats = 3};
  const Result<GenerationTiming> timing = measure_generation(*session, request, [&] { ++rounds; });
  ASSERT_TRUE(timing.ok()) << timing.error().text();
  EXPECT_EQ(rounds, 3);
  EXPECT_GT(timing.value().prefill_tokens_per_second.median, 0);
  EXPECT_GT(timing.value().decode_tokens_per_second.median, 0);
  EXPECT_GT(timing.value().decode_traffic.cache, 0);
  EXPECT_GT(peak_bytes(), 1 << 20);
  EXPECT_FALSE(session->sequences().has(0));
}

// A recurrent state cannot be turned back to the end of the past, so every round computes the past again.
TEST(MeasureGeneration, RepeatsWithAPastThatIsARecurrentState) {
  const auto session = golden_session("mamba", {.context = 32});
  ASSERT_NE(session, nullptr);
  const GenerationRequest request{.prompt = 8, .generate = 4, .depth = 5, .batch = 1, .repeats = 3};
  const Result<GenerationTiming> timing = measure_generation(*session, request, nullptr);
  ASSERT_TRUE(timing.ok()) << timing.error().text();
  EXPECT_GT(timing.value().decode_tokens_per_second.median, 0);
  EXPECT_FALSE(session->sequences().has(0));
}

}  // namespace
}  // namespace ingot
