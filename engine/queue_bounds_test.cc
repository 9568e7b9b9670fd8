#include "engine/queue_bounds.h"

#include <gtest/gtest.h>

namespace ingot {
namespace {

constexpr std::int64_t many_tokens = 1'000'000;

// How many requests of so many tokens find a place.
std::int64_t fill(QueueBounds& bounds, std::int64_t asker, std::int64_t tokens = 1) {
  std::int64_t count = 0;
  for (; bounds.check(asker, {1, tokens}).ok(); ++count) bounds.add(asker, {1, tokens});
  return count;
}

TEST(QueueBounds, WhoIsAloneHasTheWholeQueue) {
  QueueBounds bounds({8, many_tokens});
  EXPECT_EQ(fill(bounds, 1), 8);
  EXPECT_EQ(bounds.requests(), 8);
  EXPECT_EQ(bounds.check(1, {1, 1}).error().code(), ErrorCode::would_block);
}

TEST(QueueBounds, WhoFillsTheQueueLeavesPlacesForOthers) {
  QueueBounds bounds({8, many_tokens});
  EXPECT_EQ(fill(bounds, 1), 8);
  EXPECT_EQ(fill(bounds, 2), 4);
  EXPECT_EQ(fill(bounds, 3), 2);
  EXPECT_EQ(fill(bounds, 4), 1);
  EXPECT_EQ(fill(bounds, 5), 1);  // the last one
  EXPECT_EQ(fill(bounds, 6), 0);
  EXPECT_EQ(bounds.requests(), 16);
}

TEST(QueueBounds, WhoHasMoreThanHisShareGetsNoMoreBeforeHeHasLess) {
  QueueBounds bounds({8, many_tokens});
  fill(bounds, 1);
  fill(bounds, 2);
  bounds.remove(1, {1, 1});
  EXPECT_EQ(fill(bounds, 1), 0);
  EXPECT_EQ(fill(bounds, 2), 0);  // four of his own, and five are left: with one more there would be four
  bounds.remove(1, {1, 1});
  EXPECT_EQ(fill(bounds, 2), 1);
  bounds.remove(2, {1, 1});
  for (int i = 0; i < 6; ++i) bounds.remove(1, {1, 1});
  EXPECT_EQ(fill(bounds, 1), 6);
}

TEST(QueueBounds, SeveralComeTogetherOrNotAtAll) {
  QueueBounds bounds({8, many_tokens});
  EXPECT_FALSE(bounds.check(1, {9, 9}).ok());
  EXPECT_TRUE(bounds.check(1, {8, 8}).ok());
  bounds.add(2, {8, 8});
  EXPECT_FALSE(bounds.check(1, {5, 5}).ok());
  EXPECT_TRUE(bounds.check(1, {4, 4}).ok());
}

TEST(QueueBounds, TokensAreSharedInTheSameWay) {
  QueueBounds bounds({100, 80});
  EXPECT_EQ(fill(bounds, 1, 10), 8);
  EXPECT_EQ(fill(bounds, 2, 10), 4);
  EXPECT_TRUE(bounds.check(3, {1, 40}).ok());  // all that is left, since it is the first
  EXPECT_FALSE(bounds.check(3, {1, 41}).ok());
  EXPECT_EQ(fill(bounds, 3, 10), 2);
}

TEST(QueueBounds, WhereNobodyWaitsAPromptMayBeOfAnyLength) {
  QueueBounds bounds({100, 80});
  EXPECT_TRUE(bounds.check(1, {1, 1000}).ok());
  bounds.add(1, {1, 1000});
  EXPECT_FALSE(bounds.check(2, {1, 1}).ok());
  bounds.remove(1, {1, 1000});
  EXPECT_TRUE(bounds.check(2, {1, 1}).ok());
}

}  // namespace
}  // namespace ingot
