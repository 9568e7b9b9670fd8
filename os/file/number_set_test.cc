#include "os/file/number_set.h"

#include <gtest/gtest.h>

#include "os/schedule/test_heap.h"

namespace ingot::os {
namespace {

constexpr std::uint32_t many = 1 << 20;

TEST(NumberSet, TheLowestFreeNumberOfAMillionIsFoundInAFewLooks) {
  TestHeap heap;
  NumberSet set(heap);
  ASSERT_TRUE(set.make_room(many).ok());
  std::uint64_t looks = 0;
  for (std::uint32_t i = 0; i < many; ++i) set.add(i);
  EXPECT_EQ(set.lowest_free(0, looks), many);
  EXPECT_LE(looks, 1u + many / 4096);
  for (const std::uint32_t number : {0u, 63u, 64u, 4095u, 4096u, 500'000u, many - 1}) {
    set.remove(number);
    looks = 0;
    EXPECT_EQ(set.lowest_free(0, looks), number);
    EXPECT_EQ(set.lowest_free(number, looks), number);
    EXPECT_LE(looks, 3u + number / 4096 + 1);
    set.add(number);
  }
}

TEST(NumberSet, OpeningAndClosingTakesAsManyLooksWithManyOpenAsWithFew) {
  TestHeap heap;
  std::uint64_t looks_of_few = 0, looks_of_many = 0;
  for (const std::uint32_t open : {10u, 10'000u}) {
    NumberSet set(heap);
    ASSERT_TRUE(set.make_room(many).ok());
    for (std::uint32_t i = 0; i < open; ++i) set.add(i);
    std::uint64_t& looks = open == 10 ? looks_of_few : looks_of_many;
    for (std::uint32_t i = 0; i < 1000; ++i) {
      const std::uint32_t number = set.lowest_free(0, looks);
      EXPECT_EQ(number, open);
      set.add(number);
      set.remove(number);
    }
  }
  EXPECT_LE(looks_of_many, looks_of_few + 1000 * 4);  // one for each 4096 that are passed over, and the last word
}

TEST(NumberSet, IsTheSetThatItWasWhenItGrows) {
  TestHeap heap;
  NumberSet set(heap);
  std::uint64_t looks = 0;
  EXPECT_EQ(set.lowest_free(0, looks), 0u);
  EXPECT_EQ(set.lowest_free(77, looks), 77u);
  for (std::uint32_t i = 0; i < 5000; ++i) {
    ASSERT_TRUE(set.make_room(i + 1).ok());
    EXPECT_EQ(set.lowest_free(0, looks), i);
    set.add(i);
  }
  EXPECT_EQ(set.count(), 5000u);
  EXPECT_EQ(set.lowest_taken(17), 17u);
  EXPECT_EQ(set.lowest_taken(5000), set.capacity());
  set.remove(4999);
  set.remove(70);
  EXPECT_EQ(set.lowest_free(0, looks), 70u);
  EXPECT_EQ(set.lowest_free(71, looks), 4999u);
  EXPECT_EQ(set.lowest_taken(70), 71u);
}

TEST(NumberSet, WithoutMemoryItStaysAsItWas) {
  TestHeap heap;
  NumberSet set(heap);
  ASSERT_TRUE(set.make_room(64).ok());
  set.add(5);
  heap.left = 0;
  EXPECT_FALSE(set.make_room(65).ok());
  EXPECT_EQ(set.capacity(), 64u);
  EXPECT_EQ(set.lowest_taken(0), 5u);
}

}  // namespace
}  // namespace ingot::os
