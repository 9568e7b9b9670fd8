#include "os/interrupt/interrupt_table.h"

#include <gtest/gtest.h>

namespace ingot::os {
namespace {

InterruptHandler counting(int& count) {
  return {[](void* context, arch::TrapFrame&) { ++*static_cast<int*>(context); }, &count};
}

TEST(InterruptTable, AVectorReachesItsHandlerOnly) {
  InterruptTable table;
  int first = 0, second = 0;
  ASSERT_TRUE(table.claim(0, counting(first)).ok());
  ASSERT_TRUE(table.claim(255, counting(second)).ok());
  arch::TrapFrame frame{};
  frame.vector = 255;
  EXPECT_TRUE(table.dispatch(frame));
  EXPECT_EQ(first, 0);
  EXPECT_EQ(second, 1);
}

TEST(InterruptTable, AClaimedVectorCannotBeClaimedUntilReleased) {
  InterruptTable table;
  int count = 0;
  ASSERT_TRUE(table.claim(33, counting(count)).ok());
  EXPECT_FALSE(table.claim(33, counting(count)).ok());
  table.release(33);
  EXPECT_TRUE(table.claim(33, counting(count)).ok());
}

TEST(InterruptTable, NonsenseIsRefusedAndStrayVectorsAreTold) {
  InterruptTable table;
  int count = 0;
  EXPECT_FALSE(table.claim(256, counting(count)).ok());
  EXPECT_FALSE(table.claim(1, {}).ok());
  arch::TrapFrame frame{};
  frame.vector = 7;
  EXPECT_FALSE(table.dispatch(frame));
  frame.vector = ~std::uint64_t{0};
  EXPECT_FALSE(table.dispatch(frame));
}

}  // namespace
}  // namespace ingot::os
