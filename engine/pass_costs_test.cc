#include "engine/pass_costs.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace ingot {
namespace {

TEST(PassCosts, BeforeAnythingIsMeasuredNothingIsPromised) {
  const PassCosts costs;
  EXPECT_EQ(costs.affordable_rows(1), 0);
  EXPECT_EQ(costs.decoding_seconds(4), 0);
}

// 20 ms whatever its rows, and a millisecond a row. That no rows take no time weighs a little, too.
TEST(PassCosts, PassesOfTwoLengthsTellWhatAPassTakesAndWhatARowAdds) {
  PassCosts costs;
  for (int pass = 0; pass < 20; ++pass) {
    costs.observe(0, 16, 0.036);
    costs.observe(6, 250, 0.276);
  }
  EXPECT_NEAR(costs.affordable_rows(0.12), 100, 3);
  EXPECT_NEAR(costs.affordable_rows(0.52), 500, 10);
  EXPECT_EQ(costs.affordable_rows(0.005), 0);
}

TEST(PassCosts, PassesOfOneLengthCostInProportion) {
  PassCosts costs;
  for (int pass = 0; pass < 20; ++pass) costs.observe(4, 96, 0.1);
  EXPECT_NEAR(costs.affordable_rows(0.05), 50, 0.1);
  EXPECT_NEAR(costs.affordable_rows(0.4), 400, 0.1);
}

TEST(PassCosts, NoiseAtNearlyOneLengthDoesNotTiltTheLine) {
  PassCosts costs;
  RandomNumbers random(7);
  for (int pass = 0; pass < 200; ++pass) {
    const auto rows = static_cast<std::int64_t>(248 + random.below(9));
    costs.observe(0, rows, 0.25 * (0.9 + 0.2 * random.uniform()));
    EXPECT_NEAR(costs.affordable_rows(0.125), 125, 20) << pass;
    EXPECT_NEAR(costs.affordable_rows(0.5), 500, 70) << pass;
  }
}

TEST(PassCosts, WhereLongerPassesAreMuchDearerNoPassIsFree) {
  PassCosts costs;
  costs.observe(0, 20, 0.01);
  costs.observe(0, 20, 0.01);
  costs.observe(0, 200, 0.4);
  const double each = (0.4 + 0.01 * (0.75 + 0.5625)) / (200 + 20 * (0.75 + 0.5625));
  EXPECT_NEAR(costs.affordable_rows(0.2), 0.2 / each, 1e-6);
}

TEST(PassCosts, WhereLongerPassesTookLessRowsCostTheirMean) {
  PassCosts costs;
  for (int pass = 0; pass < 20; ++pass) {
    costs.observe(0, 100, 0.4);
    costs.observe(0, 120, 0.1);
  }
  EXPECT_GT(costs.affordable_rows(0.2), 80);
  EXPECT_LT(costs.affordable_rows(0.2), 120);
}

TEST(PassCosts, AFewPassesForgetANeighbourThatHasGone) {
  PassCosts costs;
  for (int pass = 0; pass < 20; ++pass) costs.observe(0, 100, 1);
  for (int pass = 0; pass < 20; ++pass) costs.observe(0, 100, 0.1);
  EXPECT_NEAR(costs.affordable_rows(0.1), 100, 5);
}

TEST(PassCosts, APassWithoutPromptsIsExpectedToTakeWhatThoseOfItsClassTook) {
  PassCosts costs;
  costs.observe(4, 0, 0.02);
  costs.observe(20, 0, 0.05);
  EXPECT_EQ(costs.decoding_seconds(0), 0);
  EXPECT_EQ(costs.decoding_seconds(2), 0.02);  // nothing is known below
  EXPECT_EQ(costs.decoding_seconds(7), 0.02);
  EXPECT_EQ(costs.decoding_seconds(15), 0.02);
  EXPECT_EQ(costs.decoding_seconds(31), 0.05);
  EXPECT_EQ(costs.decoding_seconds(1000), 0.05);
  costs.observe(4, 0, 0.04);
  EXPECT_DOUBLE_EQ(costs.decoding_seconds(4), 0.025);
}

}  // namespace
}  // namespace ingot
