#include "os/process/signal.h"

#include <gtest/gtest.h>

namespace ingot::os {
namespace {

TEST(AlternateStack, HasRoomForAFrameThatIsSmallerThanItself) {
  constexpr std::uint64_t with_tiles = 11'541;  // of a handler's frame, where a thread has AMX's tiles
  AlternateStack stack{.begin = 0x1000, .flags = 0, .bytes = AlternateStack::least_bytes};
  EXPECT_FALSE(stack.has_room_for(with_tiles));
  stack.bytes = with_tiles;
  EXPECT_FALSE(stack.has_room_for(with_tiles));
  stack.bytes = with_tiles + 1;
  EXPECT_TRUE(stack.has_room_for(with_tiles));
}

TEST(AlternateStack, IsInNobodysWayWhereItIsNotSet) { EXPECT_TRUE(AlternateStack{}.has_room_for(1 << 20)); }

}  // namespace
}  // namespace ingot::os
