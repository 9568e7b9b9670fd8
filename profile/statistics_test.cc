#include "profile/statistics.h"

#include <gtest/gtest.h>

#include <vector>

namespace ingot {
namespace {

TEST(Summarise, KnowsASmallListByHeart) {
  const std::vector<double> samples = {4, 1, 3, 2, 10};
  const Summary summary = summarise(samples);
  EXPECT_DOUBLE_EQ(summary.mean, 4);
  EXPECT_DOUBLE_EQ(summary.median, 3);
  EXPECT_DOUBLE_EQ(summary.minimum, 1);
  EXPECT_DOUBLE_EQ(summary.maximum, 10);
  EXPECT_NEAR(summary.deviation, 3.5355339, 1e-6);
  EXPECT_NEAR(summary.spread, (4.0 - 2.0) / 2 / 3, 1e-12);
}

TEST(Summarise, TakesASingleSample) {
  const std::vector<double> samples = {7};
  EXPECT_DOUBLE_EQ(summarise(samples).median, 7);
  EXPECT_DOUBLE_EQ(summarise(samples).deviation, 0);
}

TEST(BootstrapMedian, CoversTheMedianAndRepeatsForASeed) {
  std::vector<double> samples;
  for (int index = 0; index < 50; ++index) samples.push_back(100 + index % 7);
  const Interval interval = bootstrap_median(samples, 3);
  EXPECT_LE(interval.low, 103);
  EXPECT_GE(interval.high, 103);
  EXPECT_LT(interval.high - interval.low, 4);
  EXPECT_DOUBLE_EQ(interval.low, bootstrap_median(samples, 3).low);
}

// Values of the exact U statistic's normal approximation, worked out by hand: U = 0 of 25, sigma = sqrt(25*11/12).
TEST(CompareSamples, SeparatedListsDiffer) {
  const std::vector<double> slow = {11, 12, 13, 14, 15};
  const std::vector<double> fast = {1, 2, 3, 4, 5};
  const Difference difference = compare_samples(slow, fast);
  EXPECT_NEAR(difference.speedup, 13.0 / 3, 1e-12);
  EXPECT_NEAR(difference.probability, 0.01219, 1e-4);
  EXPECT_TRUE(difference.significant);
}

TEST(CompareSamples, InterleavedListsDoNot) {
  const std::vector<double> first = {1, 3, 5, 7, 9, 11};
  const std::vector<double> second = {2, 4, 6, 8, 10, 12};
  EXPECT_FALSE(compare_samples(first, second).significant);
}

TEST(CompareSamples, EqualConstantsAreNotADifference) {
  const std::vector<double> same = {2, 2, 2, 2};
  EXPECT_FALSE(compare_samples(same, same).significant);
  EXPECT_DOUBLE_EQ(compare_samples(same, same).speedup, 1);
}

}  // namespace
}  // namespace ingot
