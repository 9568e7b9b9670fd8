#include "engine/token_probability.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/random.h"
#include "kernels/all_operations.h"
#include "machine/machine.h"

namespace ingot {
namespace {

class TokenProbabilityTest : public testing::Test {
 protected:
  Result<TokenScore> score(std::span<const float> logits, std::int32_t token, std::int64_t most_likely) {
    Context context{*workers_, {}};
    return score_token(table_, logits, token, most_likely, context);
  }

  KernelTable table_ = KernelTable::select(all_operations(), Machine::detect().features).value();
  std::unique_ptr<Workers> workers_ = std::move(Workers::create({.threads = 1})).value();
};

std::vector<double> log_softmax(std::span<const float> logits) {
  const double largest = *std::ranges::max_element(logits);
  double sum = 0;
  for (const float logit : logits) sum += std::exp(logit - largest);
  std::vector<double> result;
  for (const float logit : logits) result.push_back(logit - largest - std::log(sum));
  return result;
}

std::vector<float> random_logits(std::size_t count, double spread, std::uint64_t seed) {
  RandomNumbers random(seed);
  std::vector<float> logits(count);
  for (float& logit : logits) {
    logit = static_cast<float>(spread * (static_cast<double>(random.next() >> 11) * 0x1p-53 - 0.3));
  }
  return logits;
}

TEST_F(TokenProbabilityTest, IsTheLogarithmOfSoftmax) {
  for (const auto& [count, spread] :
       std::vector<std::pair<std::size_t, double>>{{1, 1}, {7, 3}, {1000, 40}, {150'001, 0.01}, {150'001, 60}}) {
    const std::vector<float> logits = random_logits(count, spread, count);
    const std::vector<double> expected = log_softmax(logits);
    std::vector<std::int32_t> order(count);
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, std::greater<>(), [&](std::int32_t token) { return logits[std::size_t(token)]; });
    const auto near = [&](float found, std::int32_t token) {
      const double wanted = expected[static_cast<std::size_t>(token)];
      EXPECT_NEAR(found, wanted, 4e-6 + 2e-7 * std::abs(wanted)) << "token " << token << " of " << count;
    };
    for (const std::int64_t most_likely : {0, 1, 20}) {
      const auto token = static_cast<std::int32_t>(count / 2);
      const TokenScore found = score(logits, token, most_likely).value();
      near(found.log_probability, token);
      ASSERT_EQ(found.most_likely.size(), std::min<std::size_t>(count, static_cast<std::size_t>(most_likely)));
      for (std::size_t i = 0; i < found.most_likely.size(); ++i) {
        EXPECT_EQ(found.most_likely[i].token, order[i]);
        near(found.most_likely[i].log_probability, order[i]);
      }
    }
  }
}

TEST_F(TokenProbabilityTest, OfEqualTokensTheLowerNumberComesFirst) {
  const std::vector<float> logits = {1, 3, 2, 3, 3};
  const TokenScore found = score(logits, 3, 4).value();
  ASSERT_EQ(found.most_likely.size(), 4u);
  EXPECT_EQ(found.most_likely[0].token, 1);
  EXPECT_EQ(found.most_likely[1].token, 3);
  EXPECT_EQ(found.most_likely[2].token, 4);
  EXPECT_EQ(found.most_likely[3].token, 2);
  EXPECT_EQ(found.most_likely[1].log_probability, found.log_probability);
}

TEST_F(TokenProbabilityTest, WhatCannotComeHasNoProbability) {
  const float never = -std::numeric_limits<float>::infinity();
  const std::vector<float> logits = {never, 0, never, 0};
  EXPECT_EQ(score(logits, 2, 0).value().log_probability, never);
  const TokenScore found = score(logits, 3, 3).value();
  EXPECT_NEAR(found.log_probability, -std::log(2.0), 1e-6);
  EXPECT_EQ(found.most_likely[2], (TokenProbability{0, never}));
}

TEST_F(TokenProbabilityTest, LogitsWithoutADistributionAreAnError) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const float wrong : {NAN, infinity}) {
    std::vector<float> logits = random_logits(1000, 5, 1);
    logits[777] = wrong;
    const Result<TokenScore> found = score(logits, 3, 2);
    ASSERT_FALSE(found.ok());
    EXPECT_EQ(found.error().code(), ErrorCode::corrupt);
  }
  EXPECT_FALSE(score(std::vector<float>(9, -infinity), 3, 2).ok());
}

}  // namespace
}  // namespace ingot
