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

}  // namespace
}  // namespace ingot
