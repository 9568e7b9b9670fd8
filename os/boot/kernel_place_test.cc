#include "os/boot/kernel_place.h"

#include <gtest/gtest.h>

#include <set>

#include "base/random.h"

namespace ingot::os {
namespace {

constexpr std::uint64_t mib = 1 << 20;
constexpr PhysicalRange image{PhysicalAddress(mib), 0x30000};

MemoryMap map_of(std::initializer_list<MemoryRange> ranges) {
  MemoryMap map;
  for (const MemoryRange& range : ranges) EXPECT_TRUE(map.add(range).ok());
  return map;
}
MemoryRange usable(std::uint64_t begin, std::uint64_t end) {
  return {PhysicalAddress(begin), end - begin, MemoryKind::usable};
}

std::set<std::uint64_t> all_distances(const MemoryMap& map) {
  std::set<std::uint64_t> found;
  int refused = 0;
  for (std::uint64_t random = 0; random < 4096; ++random) {
    const auto distance = choose_kernel_distance(map, image, random);
    if (distance) found.insert(*distance);
    refused += distance ? 0 : 1;
  }
  EXPECT_EQ(refused, found.empty() ? 4096 : 0);
  return found;
}

TEST(KernelPlace, StaysWhereThereIsNoRoom) {
  EXPECT_FALSE(choose_kernel_distance(MemoryMap(), image, 7));
  EXPECT_FALSE(choose_kernel_distance(map_of({usable(mib, 3 * mib + 0x2ffff)}), image, 7));
  EXPECT_FALSE(choose_kernel_distance(map_of({usable(4096 * mib, 8192 * mib)}), image, 7));
}

TEST(KernelPlace, OneByteDecides) {
  EXPECT_EQ(all_distances(map_of({usable(mib, 3 * mib + 0x30000)})), std::set({2 * mib}));
  EXPECT_EQ(all_distances(map_of({usable(3 * mib, 4 * mib)})), std::set({2 * mib}));
  EXPECT_TRUE(all_distances(map_of({usable(3 * mib + 1, 4 * mib)})).empty());
}

TEST(KernelPlace, EveryPlaceIsChosenAndModulesAreSpared) {
  MemoryMap map = map_of({usable(0, 640 << 10), usable(mib, 16 * mib)});
  ASSERT_TRUE(map.add({PhysicalAddress(7 * mib + 0x1000), 0x1000, MemoryKind::image}).ok());
  EXPECT_EQ(all_distances(map), std::set({2 * mib, 4 * mib, 8 * mib, 10 * mib, 12 * mib, 14 * mib}));
}

// Against the definition: whatever the map, the place is whole, usable, aligned, another, and below 4 GiB.
TEST(KernelPlace, AnyMapGivesOnlyUsableMemory) {
  RandomNumbers numbers(11);
  int placed = 0;
  for (int round = 0; round < 2000; ++round) {
    MemoryMap map;
    for (std::uint64_t count = 1 + numbers.below(8); count > 0; --count) {
      const PhysicalAddress begin(numbers.below(5000) * mib + numbers.below(mib));
      const auto kind = numbers.below(3) == 0 ? MemoryKind::reserved : MemoryKind::usable;
      ASSERT_TRUE(map.add({begin, numbers.below(40 * mib), kind}).ok());
    }
    const auto distance = choose_kernel_distance(map, image, numbers.next());
    if (!distance) continue;
    ++placed;
    EXPECT_TRUE(*distance != 0 && is_aligned(*distance, large_page_bytes));
    const PhysicalAddress begin = image.begin + *distance, end = image.end() + *distance;
    EXPECT_LE(end.value(), 4096 * mib);
    bool inside = false;
    for (const MemoryRange& range : map.ranges()) {
      inside |= range.kind == MemoryKind::usable && begin >= range.begin && end <= range.end();
    }
    EXPECT_TRUE(inside) << begin.value();
  }
  EXPECT_GT(placed, 1000);
}

TEST(WindowPlace, LeavesRoomForAllMemoryBehindIt) {
  constexpr std::uint64_t tib = std::uint64_t{1} << 40;
  const auto slots_for = [](std::uint64_t end) {
    std::set<std::uint64_t> found;
    for (std::uint64_t random = 0; random < 1024; ++random) {
      found.insert(choose_window_slot(map_of({usable(mib, end)}), random));
    }
    return found;
  };
  EXPECT_EQ(slots_for(128 * mib).size(), 128u);
  EXPECT_EQ(slots_for(tib / 2).size(), 128u);
  EXPECT_EQ(slots_for(tib / 2 + mib).size(), 127u);
  EXPECT_EQ(*slots_for(2 * tib).rbegin(), 124u);  // 124 to 127 show it
  EXPECT_EQ(slots_for(64 * tib), (std::set<std::uint64_t>{0}));
  EXPECT_EQ(slots_for(65 * tib), (std::set<std::uint64_t>{0}));
}

}  // namespace
}  // namespace ingot::os
