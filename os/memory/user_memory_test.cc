#include "os/memory/user_memory.h"

#include <gtest/gtest.h>

namespace ingot::os {
namespace {

TEST(UserAddress, IsWhatLiesInTheProgramsHalf) {
  for (const std::uint64_t value : {0ull, 0x40'1000ull, 0x7fff'ffff'efffull}) {
    ASSERT_TRUE(UserAddress::of(value).has_value()) << std::hex << value;
    EXPECT_EQ(UserAddress::of(value)->value(), value);
  }
}

TEST(UserAddress, IsNoNumberThatTheCpuWouldRefuse) {
  for (const std::uint64_t value :
       {0x7fff'ffff'f000ull, 0x7fff'ffff'ffffull, 0x8000'0000'0000ull, 0x8000'0000'0000'0000ull,
        0xffff'7fff'ffff'ffffull, 0xffff'8000'0000'0000ull, 0xffff'ffff'8000'0000ull, ~0ull}) {
    EXPECT_FALSE(UserAddress::of(value).has_value()) << std::hex << value;
  }
}

TEST(UserAddress, IsMadeFromNumbersByTheCheckAlone) {
  static_assert(!std::is_constructible_v<UserAddress, std::uint64_t>);
  static_assert(!std::is_convertible_v<std::uint64_t, UserAddress>);
  static_assert(!std::is_constructible_v<UserAddress, VirtualAddress>);
}

}  // namespace
}  // namespace ingot::os
