// What a reference shares with its variants, and parity therefore cannot see: which experts are chosen.
#include "kernels/routing/router_top_k.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "machine/workers.h"

namespace ingot {
namespace {

constexpr float infinity = INFINITY;
constexpr float not_a_number = NAN;

std::vector<std::int32_t> chosen(const std::vector<float>& values, std::size_t count) {
  std::vector<std::int32_t> places(count, -1);
  choose_greatest<float>(values, places);
  return places;
}

using Places = std::vector<std::int32_t>;

TEST(ChooseGreatest, OrdersGreatestFirst) { EXPECT_EQ(chosen({1, 5, 3, 4, 2}, 3), (Places{1, 3, 2})); }

TEST(ChooseGreatest, GivesTiesToTheLowerIndex) {
  EXPECT_EQ(chosen({2, 7, 7, 2, 7}, 4), (Places{1, 2, 4, 0}));
  EXPECT_EQ(chosen({0, -0.0f, 0}, 2), (Places{0, 1}));
}

TEST(ChooseGreatest, RanksNotANumberBelowEverything) {
  EXPECT_EQ(chosen({not_a_number, -infinity, 1, not_a_number}, 4), (Places{2, 1, 0, 3}));
  EXPECT_EQ(chosen({not_a_number, not_a_number, -infinity}, 1), (Places{2}));
}

TEST(ChooseGreatest, TakesAll) { EXPECT_EQ(chosen({3, 1, 2}, 3), (Places{0, 2, 1})); }

TEST(RouterTopK, BiasChoosesButDoesNotWeigh) {
  const auto workers = Workers::create({.threads = 1});
  ASSERT_TRUE(workers.ok());
  const std::vector<float> logits = {0, 1, 2, 3};
  const std::vector<float> bias = {10, 0, 0, 0};
  std::vector<std::int32_t> indices(2);
  std::vector<float> weights(2);
  RouterTopK::Arguments a;
  a.logits = View<const float>(logits.data(), {1, 4});
  a.selection_bias = View<const float>(bias.data(), {4});
  a.score = RouterScore::sigmoid;
  a.indices = View<std::int32_t>(indices.data(), {1, 2});
  a.weights = View<float>(weights.data(), {1, 2});
  Context context{*workers.value(), {}};
  router_top_k_reference(a, context);
  EXPECT_EQ(indices, (Places{0, 3}));
  EXPECT_FLOAT_EQ(weights[0], 0.5f);
  EXPECT_FLOAT_EQ(weights[1], static_cast<float>(1 / (1 + std::exp(-3.0))));
}

TEST(RouterTopK, ChoosesFromTheBestGroupsAlone) {
  const auto workers = Workers::create({.threads = 1});
  ASSERT_TRUE(workers.ok());
  // The greatest of all stands in a group whose two greatest add up to less than another's.
  const std::vector<float> logits = {3, -4, -5, 2, 1, 0, -3, -3, -3};
  std::vector<std::int32_t> indices(2);
  std::vector<float> weights(2);
  RouterTopK::Arguments a;
  a.logits = View<const float>(logits.data(), {1, 9});
  a.score = RouterScore::sigmoid;
  a.groups = 3;
  a.group_score = GroupScore::best_two;
  a.indices = View<std::int32_t>(indices.data(), {1, 2});
  a.weights = View<float>(weights.data(), {1, 2});
  Context context{*workers.value(), {}};
  ASSERT_TRUE(RouterTopK::check(a).ok());
  router_top_k_reference(a, context);
  EXPECT_EQ(indices, (Places{3, 4}));
  a.group_score = GroupScore::best;
  router_top_k_reference(a, context);
  EXPECT_EQ(indices, (Places{0, 1}));
}

}  // namespace
}  // namespace ingot
