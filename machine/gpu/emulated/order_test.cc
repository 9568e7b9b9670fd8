#include "machine/gpu/emulated/order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

namespace ingot::emulated {
namespace {

std::vector<std::uint16_t> arranged(int number, std::size_t threads) {
  std::vector<std::uint16_t> order(threads);
  Order(number).arrange(order);
  return order;
}

TEST(Order, EveryOneHasEveryThreadOnce) {
  for (int number = 0; number < order_count; ++number) {
    for (std::size_t threads : {1, 31, 32, 100, 1024}) {
      std::vector<std::uint16_t> order = arranged(number, threads);
      std::ranges::sort(order);
      for (std::size_t i = 0; i < threads; ++i) ASSERT_EQ(order[i], i) << number;
    }
    std::array<std::uint8_t, lanes_per_warp> lanes;
    Order(number).arrange_lanes(lanes);
    EXPECT_EQ(std::set(lanes.begin(), lanes.end()).size(), lanes_per_warp);
  }
}

TEST(Order, NoTwoAreTheSame) {
  std::set<std::vector<std::uint16_t>> seen;
  for (int number = 0; number < order_count; ++number) seen.insert(arranged(number, 128));
  EXPECT_EQ(seen.size(), static_cast<std::size_t>(order_count));
  EXPECT_EQ(arranged(0, 3), (std::vector<std::uint16_t>{0, 1, 2}));
  EXPECT_EQ(arranged(1, 3), (std::vector<std::uint16_t>{2, 1, 0}));
  EXPECT_EQ(arranged(2, 34)[1], 32) << "warps take turns";
}

TEST(Order, EveryBlockRunsOnce) {
  for (int number = 0; number < order_count; ++number) {
    for (std::uint64_t blocks : {1, 2, 3, 7, 64, 210}) {
      const BlockLine line = Order(number).line_up(blocks);
      std::set<std::uint64_t> seen;
      for (std::uint64_t place = 0; place < blocks; ++place) seen.insert(line.at(place));
      EXPECT_EQ(seen.size(), blocks) << number;
      EXPECT_LT(*seen.rbegin(), blocks) << number;
    }
  }
}

}  // namespace
}  // namespace ingot::emulated
