#include "engine/page_pool.h"

#include <gtest/gtest.h>

namespace ingot {
namespace {

TEST(PagePool, APageIsFreeAgainWhenItsLastUserLetsGo) {
  PagePool pool(2);
  const std::int32_t page = pool.take().value();
  EXPECT_FALSE(pool.is_shared(page));
  pool.share(page);
  EXPECT_TRUE(pool.is_shared(page));
  pool.release(page);
  EXPECT_EQ(pool.free_count(), 1);
  pool.release(page);
  EXPECT_EQ(pool.free_count(), 2);
}

TEST(PagePool, AnEmptyPoolGivesNothing) {
  PagePool pool(1);
  EXPECT_TRUE(pool.take().has_value());
  EXPECT_FALSE(pool.take().has_value());
}

TEST(PagePool, WhatIsKnownByItsTextStaysUntilItsMemoryIsWanted) {
  PagePool pool(2, 1);
  const std::int32_t known = pool.take().value();
  const std::int32_t tokens[] = {7};
  pool.texts().add(0, std::nullopt, tokens, known);
  pool.release(known);
  EXPECT_EQ(pool.free_count(), 2);
  const std::int32_t other = pool.take().value();
  EXPECT_NE(other, known);
  pool.share(known);
  EXPECT_EQ(pool.free_count(), 0);
  EXPECT_TRUE(pool.is_shared(known));
  EXPECT_FALSE(pool.take().has_value());
  pool.release(known);
  EXPECT_EQ(pool.take().value(), known);
  EXPECT_TRUE(pool.texts().find(0, tokens).empty());
}

}  // namespace
}  // namespace ingot
