#include "engine/sampler.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

#include "engine/run_with_scratch.h"
#include "kernels/all_operations.h"
#include "kernels/sampling/choose.h"
#include "kernels/sampling/filter.h"
#include "machine/machine.h"

namespace ingot {
namespace {

class SamplerTest : public testing::Test {
 protected:
  std::vector<std::int32_t> draw(const SamplerOptions& options, std::span<const float> logits, int count,
                                 int threads = 1) {
    const auto created = Workers::create({.threads = threads});
    const auto& workers = created.value();
    Context context{*workers, {}};
    Sampler sampler = Sampler::create(table_, options).value();
    std::vector<std::int32_t> tokens;
    for (int i = 0; i < count; ++i) tokens.push_back(sampler.choose(logits, context).value());
    return tokens;
  }

  KernelTable table_ = KernelTable::select(all_operations(), Machine::detect().features).value();
};

const std::vector<float> ramp = {0, 1, 2, 3, 4};

TEST_F(SamplerTest, WithoutATemperatureTheMostLikelyTokenIsTaken) {
  for (const std::int32_t token : draw({}, ramp, 5)) EXPECT_EQ(token, 4);
}

TEST_F(SamplerTest, WhatIsForbiddenIsNeverChosen) {
  const auto workers = Workers::create({.threads = 1});
  Context context{*workers.value(), {}};
  const std::int32_t forbidden[] = {4, 2};
  Sampler greedy = Sampler::create(table_, {}).value();
  EXPECT_EQ(greedy.choose(ramp, context, {.forbidden = forbidden}).value(), 3);
  Sampler drawing = Sampler::create(table_, {.temperature = 5}).value();
  for (int i = 0; i < 200; ++i) {
    const std::int32_t token = drawing.choose(ramp, context, {.forbidden = forbidden}).value();
    EXPECT_TRUE(token != 4 && token != 2);
  }
}

TEST_F(SamplerTest, ABiasIsAddedToALogitBeforeAllElse) {
  const auto workers = Workers::create({.threads = 1});
  Context context{*workers.value(), {}};
  const float never = -std::numeric_limits<float>::infinity();
  const TokenBias biases[] = {{4, never}, {0, 1.5f}, {0, 1}, {3, -1}};
  Sampler greedy = Sampler::create(table_, {}).value();
  EXPECT_EQ(greedy.choose(ramp, context, {.biases = biases}).value(), 0);  // 2.5, 1, 2, 2, -inf
  // What is forbidden stays so.
  const TokenBias wanted[] = {{2, 100}};
  const std::int32_t forbidden[] = {2};
  EXPECT_EQ(greedy.choose(ramp, context, {.forbidden = forbidden, .biases = wanted}).value(), 4);
  // A repetition penalty divides what is above zero and multiplies what is below: so the order matters.
  Sampler penalised = Sampler::create(table_, {.repetition = 10}).value();
  penalised.remember(std::vector<std::int32_t>{0});
  const std::vector<float> below = {-1, -2};
  const TokenBias lifted[] = {{0, 3}};
  EXPECT_EQ(penalised.choose(below, context, {.biases = lifted}).value(), 0);
  // Draws follow the biased distribution, at its temperature.
  Sampler drawing = Sampler::create(table_, {.temperature = 2}).value();
  const TokenBias close[] = {{4, -100}, {3, -100}, {2, -100}, {1, 1}};
  int of_one = 0;
  const int draws = 20000;
  for (int i = 0; i < draws; ++i) of_one += drawing.choose(ramp, context, {.biases = close}).value() == 1;
  EXPECT_NEAR(static_cast<double>(of_one) / draws, 1 / (1 + std::exp(-1.0)), 0.02);
}

TEST_F(SamplerTest, ASeedDrawsTheSameTokensOnAnyNumberOfThreads) {
  const SamplerOptions options{.temperature = 1, .seed = 42};
  EXPECT_EQ(draw(options, ramp, 100, 1), draw(options, ramp, 100, 2));
  EXPECT_NE(draw(options, ramp, 100), draw({.temperature = 1, .seed = 43}, ramp, 100));
}

TEST_F(SamplerTest, DrawsFollowTheProbabilities) {
  std::map<std::int32_t, int> counts;
  const int draws = 20000;
  for (const std::int32_t token : draw({.temperature = 2}, ramp, draws)) ++counts[token];
  double total = 0;
  for (const float logit : ramp) total += std::exp(logit / 2);
  for (std::size_t token = 0; token < ramp.size(); ++token) {
    const double expected = std::exp(ramp[token] / 2) / total;
    const double found = static_cast<double>(counts[static_cast<std::int32_t>(token)]) / draws;
    EXPECT_NEAR(found, expected, 5 * std::sqrt(expected / draws)) << "token " << token;
  }
}

TEST_F(SamplerTest, FiltersKeepOnlyWhatTheySay) {
  for (const std::int32_t token : draw({.temperature = 5, .top_k = 2}, ramp, 200)) EXPECT_GE(token, 3);
  for (const std::int32_t token : draw({.temperature = 1, .top_p = 0.5}, ramp, 200)) EXPECT_EQ(token, 4);
  for (const std::int32_t token : draw({.temperature = 1, .min_p = 0.9}, ramp, 200)) EXPECT_EQ(token, 4);
}

// The sampler looks only at what top-k leaves; drawn is what the contracts draw that look at the whole row.
TEST_F(SamplerTest, DrawsWhatTheWholeChainDraws) {
  const auto workers = Workers::create({.threads = 1});
  const Memory scratch = Memory::allocate(Bytes(1 << 20)).value();
  Context context{*workers.value(), scratch.bytes()};
  RandomNumbers random(7);
  for (int round = 0; round < 300; ++round) {
    std::vector<float> logits(1 + random.below(3000));
    for (float& logit : logits) {
      const std::uint64_t kind = random.below(50);
      logit = static_cast<float>(random.below(round % 2 == 0 ? 40 : 1 << 20)) / 4;  // many equal ones, or few
      if (kind == 0 && round % 3 == 0) logit = std::numeric_limits<float>::quiet_NaN();
      if (kind == 1) logit = -std::numeric_limits<float>::infinity();
    }
    logits[0] = 1;
    const SamplerOptions options{.temperature = 3,
                                 .top_k = static_cast<std::int64_t>(random.below(60)),
                                 .top_p = random.below(2) == 0 ? 1 : 0.8,
                                 .min_p = random.below(2) == 0 ? 0 : 0.1,
                                 .seed = random.next()};
    std::vector<float> whole = logits;
    const View<float> row(whole.data(), {1, std::ssize(whole)});
    run<Temperature>(table_, {row, 3, row}, context).value();
    if (options.top_k > 0) run<SamplingTopK>(table_, {row, options.top_k, row}, context).value();
    if (options.top_p < 1) run<TopP>(table_, {row, 0.8f, row}, context).value();
    if (options.min_p > 0) run<MinP>(table_, {row, 0.1f, row}, context).value();
    const float uniform = static_cast<float>(RandomNumbers(options.seed).next() >> 40) * 0x1p-24f;
    std::int32_t expected = -1;
    const View<std::int32_t> token(&expected, {1});
    run<Categorical>(table_, {row, View<const float>(&uniform, {1}), token}, context).value();
    EXPECT_EQ(draw(options, logits, 1)[0], expected) << "round " << round << ", top-k " << options.top_k;
  }
}

// As a context promises it, whatever the size: what is got from the heap lies 16 bytes behind that.
TEST_F(SamplerTest, ScratchIsAligned) {
  const auto workers = Workers::create({.threads = 1});
  Context without_scratch{*workers.value(), {}};
  std::vector<float> logits(3000, 1);
  const View<float> row(logits.data(), {1, std::ssize(logits)});
  Memory scratch;
  ASSERT_TRUE(run_with_scratch<TopP>(table_, {row, 0.8f, row}, without_scratch, scratch).ok());
  ASSERT_GT(scratch.size(), 0u);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(scratch.data()) % 64, 0u);
  const std::byte* const first = scratch.data();
  ASSERT_TRUE(run_with_scratch<TopP>(table_, {row, 0.8f, row}, without_scratch, scratch).ok());
  EXPECT_EQ(scratch.data(), first);  // it is grown once
  Context with_scratch{*workers.value(), scratch.bytes()};
  Memory own;
  ASSERT_TRUE(run_with_scratch<TopP>(table_, {row, 0.8f, row}, with_scratch, own).ok());
  EXPECT_EQ(own.size(), 0u);  // the context's has room
}

TEST_F(SamplerTest, PenaltiesMakeRoomForOthers) {
  // 3.5 and 3 are close: a presence penalty of 1 makes greedy choice alternate.
  const std::vector<float> close = {3, 3.5f};
  const std::vector<std::int32_t> tokens = draw({.presence = 1, .penalty_window = 1}, close, 4);
  EXPECT_EQ(tokens, (std::vector<std::int32_t>{1, 0, 1, 0}));
}

TEST_F(SamplerTest, NumbersOutOfRangeAreRefused) {
  for (const SamplerOptions& options :
       {SamplerOptions{.temperature = -1}, SamplerOptions{.temperature = NAN}, SamplerOptions{.top_k = -1},
        SamplerOptions{.top_p = 1.5}, SamplerOptions{.min_p = -0.1}, SamplerOptions{.repetition = 0}}) {
    EXPECT_FALSE(Sampler::create(table_, options).ok());
  }
}

TEST_F(SamplerTest, LogitsWithoutANumberAreAnError) {
  const auto created = Workers::create({.threads = 1});
  const auto& workers = created.value();
  Context context{*workers, {}};
  Sampler sampler = Sampler::create(table_, {}).value();
  const std::vector<float> nothing(4, NAN);
  EXPECT_FALSE(sampler.choose(nothing, context).ok());
}

}  // namespace
}  // namespace ingot
