#include "os/boot/memory_map.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "base/random.h"

namespace ingot::os {
namespace {

MemoryRange range(std::uint64_t begin, std::uint64_t bytes, MemoryKind kind) {
  return {PhysicalAddress(begin), bytes, kind};
}

TEST(MemoryMap, StricterKindHoldsWhereRangesOverlap) {
  MemoryMap map;
  ASSERT_TRUE(map.add(range(0, 0x1000, MemoryKind::usable)).ok());
  ASSERT_TRUE(map.add(range(0x400, 0x100, MemoryKind::reserved)).ok());
  ASSERT_TRUE(map.add(range(0x480, 0x200, MemoryKind::usable)).ok());
  const std::vector<MemoryRange> expected = {range(0, 0x400, MemoryKind::usable),
                                             range(0x400, 0x100, MemoryKind::reserved),
                                             range(0x500, 0xb00, MemoryKind::usable)};
  EXPECT_TRUE(std::ranges::equal(map.ranges(), expected));
  EXPECT_EQ(map.bytes_of(MemoryKind::usable), 0xf00u);
  EXPECT_EQ(map.end_of_memory(), PhysicalAddress(0x1000));
}

TEST(MemoryMap, EmptyRangeChangesNothing) {
  MemoryMap map;
  ASSERT_TRUE(map.add(range(0x1000, 0, MemoryKind::bad)).ok());
  EXPECT_TRUE(map.ranges().empty());
}

TEST(MemoryMap, RangePastTheAddressSpaceIsRefused) {
  MemoryMap map;
  EXPECT_EQ(map.add(range(~std::uint64_t{0} - 5, 7, MemoryKind::usable)).error().code(), ErrorCode::overflow);
  EXPECT_TRUE(map.ranges().empty());
}

TEST(MemoryMap, FullMapRefusesAndStaysAsItWas) {
  MemoryMap map;
  for (std::uint64_t index = 0; index < MemoryMap::capacity; ++index) {
    ASSERT_TRUE(map.add(range(index * 0x2000, 0x1000, MemoryKind::usable)).ok());
  }
  const std::vector<MemoryRange> before(map.ranges().begin(), map.ranges().end());
  EXPECT_FALSE(map.add(range(0x1800, 0x100, MemoryKind::reserved)).ok());
  EXPECT_TRUE(std::ranges::equal(map.ranges(), before));
}

TEST(MemoryMap, CountsWhatLiesBeyondAnAddress) {
  constexpr std::uint64_t tib = std::uint64_t{1} << 40;
  MemoryMap map;
  ASSERT_TRUE(map.add(range(0, 2 * tib, MemoryKind::usable)).ok());
  ASSERT_TRUE(map.add(range(3 * tib / 2, tib / 4, MemoryKind::reserved)).ok());
  EXPECT_EQ(map.bytes_of(MemoryKind::usable), 7 * tib / 4);
  EXPECT_EQ(map.bytes_of(MemoryKind::usable, PhysicalAddress(tib)), 3 * tib / 4);
  EXPECT_EQ(map.bytes_of(MemoryKind::usable, PhysicalAddress(13 * tib / 8)), tib / 4);
  EXPECT_EQ(map.bytes_of(MemoryKind::usable, PhysicalAddress(2 * tib)), 0u);
}

// Every byte of a small address space has the strictest kind that was ever said of it.
TEST(MemoryMap, AgreesWithAByteWiseModel) {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    RandomNumbers numbers(seed);
    constexpr std::uint64_t space = 160;
    std::vector<std::optional<MemoryKind>> model(space);
    MemoryMap map;
    for (std::uint64_t count = 1 + numbers.below(24); count > 0; --count) {
      const std::uint64_t begin = numbers.below(space), bytes = numbers.below(space - begin + 1);
      const auto kind = static_cast<MemoryKind>(numbers.below(7));
      ASSERT_TRUE(map.add(range(begin, bytes, kind)).ok());
      for (std::uint64_t at = begin; at < begin + bytes; ++at) {
        model[at] = std::max(model[at].value_or(MemoryKind::usable), kind);
      }
    }
    std::vector<std::optional<MemoryKind>> found(space);
    std::optional<MemoryRange> last;
    for (const MemoryRange& each : map.ranges()) {
      ASSERT_GT(each.bytes, 0u);
      if (last) {
        ASSERT_GE(each.begin, last->end());
        ASSERT_FALSE(each.begin == last->end() && each.kind == last->kind) << "neighbours of one kind are one range";
      }
      for (std::uint64_t at = each.begin.value(); at < each.end().value(); ++at) found[at] = each.kind;
      last = each;
    }
    ASSERT_EQ(found, model) << "seed " << seed;
  }
}

}  // namespace
}  // namespace ingot::os
