// The grouping has one implementation, so parity has nothing to hold it against: its definition is tested here, and
// that gather, scatter and combine undo and redo it.
#include "kernels/routing/group_tokens.h"

#include <gtest/gtest.h>

#include <vector>

#include "kernels/routing/combine.h"
#include "kernels/routing/gather.h"
#include "kernels/routing/load_metrics.h"
#include "kernels/routing/scatter.h"
#include "machine/workers.h"

namespace ingot {
namespace {

class GroupTokensTest : public testing::Test {
 protected:
  GroupTokensTest() : workers_(std::move(Workers::create({.threads = 1})).value()), context_{*workers_, {}} {
    GroupTokens::Arguments a;
    a.indices = view(indices_, {tokens, per_token});
    a.permutation = view(permutation_, {tokens * per_token});
    a.offsets = view(offsets_, {experts + 1});
    group_tokens_reference(a, context_);
  }

  template <class Element>
  static View<Element> view(std::vector<Element>& elements, const Shape& shape) {
    return View<Element>(elements.data(), shape);
  }

  static constexpr std::int64_t tokens = 4;
  static constexpr std::int64_t per_token = 2;
  static constexpr std::int64_t experts = 5;
  std::unique_ptr<Workers> workers_;
  Context context_;
  std::vector<std::int32_t> indices_ = {3, 1, 1, 0, 3, 0, 1, 3};
  std::vector<std::int32_t> permutation_ = std::vector<std::int32_t>(8, -1);
  std::vector<std::int32_t> offsets_ = std::vector<std::int32_t>(6, -1);
};

TEST_F(GroupTokensTest, ListsChoicesByExpertAndKeepsTheirOrder) {
  EXPECT_EQ(permutation_, (std::vector<std::int32_t>{3, 5, 1, 2, 6, 0, 4, 7}));
  EXPECT_EQ(offsets_, (std::vector<std::int32_t>{0, 2, 5, 5, 8, 8}));
}

TEST_F(GroupTokensTest, ScatterUndoesTheGroupingAndCombineWeighsIt) {
  std::vector<float> x = {1, 2, 3, 4};
  std::vector<float> grouped(8);
  RoutingGather::Arguments gather;
  gather.x = view(x, {tokens, 1});
  gather.permutation = view(permutation_, {8});
  gather.y = view(grouped, {8, 1});
  routing_gather_reference(gather, context_);
  EXPECT_EQ(grouped, (std::vector<float>{2, 3, 1, 2, 4, 1, 3, 4}));

  std::vector<float> restored(8);
  RoutingScatter::Arguments scatter;
  scatter.x = view(grouped, {8, 1});
  scatter.permutation = view(permutation_, {8});
  scatter.y = view(restored, {tokens, per_token, 1});
  routing_scatter_reference(scatter, context_);
  EXPECT_EQ(restored, (std::vector<float>{1, 1, 2, 2, 3, 3, 4, 4}));

  std::vector<float> weights = {0.25f, 0.75f, 0.5f, 0.5f, 1, 0, 0, 2};
  std::vector<float> combined(4);
  RoutingCombine::Arguments combine;
  combine.x = view(grouped, {8, 1});
  combine.permutation = view(permutation_, {8});
  combine.weights = view(weights, {tokens, per_token});
  combine.y = view(combined, {tokens, 1});
  routing_combine_reference(combine, context_);
  EXPECT_EQ(combined, (std::vector<float>{1, 2, 3, 8}));
}

TEST_F(GroupTokensTest, EvenLoadHasALossOfOne) {
  std::vector<float> probabilities(16, 0.25f);
  std::vector<std::int32_t> even = {0, 1, 2, 3};
  std::vector<std::int32_t> counts(4);
  std::vector<float> mean(4);
  std::vector<float> loss(1);
  LoadMetrics::Arguments a;
  a.probabilities = view(probabilities, {4, 4});
  a.indices = view(even, {4, 1});
  a.counts = view(counts, {4});
  a.mean_probability = view(mean, {4});
  a.loss = view(loss, {1});
  load_metrics_reference(a, context_);
  EXPECT_EQ(counts, (std::vector<std::int32_t>{1, 1, 1, 1}));
  EXPECT_FLOAT_EQ(loss[0], 1);
}

}  // namespace
}  // namespace ingot
