#include "os/memory/region_map.h"

#include <map>

#include "os/memory/address_space_fixture.h"

namespace ingot::os {
namespace {

using namespace address_space_fixture;

class RegionMaps : public AddressSpaces {
 protected:
  RegionFields fields(std::uint64_t page, std::uint64_t pages, std::uint64_t offset_pages = 0) {
    RegionFields it;
    it.begin = low + page * page_bytes;
    it.bytes = pages * page_bytes;
    it.object = &image;
    it.object_offset = offset_pages * page_bytes;
    it.space = space.get();
    return it;
  }
  Owned<AddressSpace> space = make_space();
};

TEST_F(RegionMaps, HoldNoMoreThanLinuxAllows) {
  RegionMap map(heap);
  for (std::uint64_t i = 0; i < RegionMap::most_regions; ++i) ASSERT_TRUE(map.insert(fields(3 * i, 2, 5 * i)).ok());
  EXPECT_EQ(map.insert(fields(3 * RegionMap::most_regions, 1)).error().code(), ErrorCode::out_of_memory);
  EXPECT_EQ(map.split_at(low + page_bytes).error().code(), ErrorCode::out_of_memory);
  EXPECT_EQ(map.find(low)->bytes, 2 * page_bytes);
  Region& first = *map.find(low);
  map.destroy(first);
  EXPECT_TRUE(map.insert(fields(0, 1)).ok());
}

// Begins and ends in pages, against a sorted map that is searched from its begin.
TEST_F(RegionMaps, FindRoomAsAPlainModelDoes) {
  constexpr std::uint64_t pages = 4000;
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    RandomNumbers random(seed);
    RegionMap map(heap);
    std::map<std::uint64_t, std::uint64_t> model;  // begin -> end
    const auto lowest_gap = [&](std::uint64_t from, std::uint64_t count) {
      for (const auto& [begin, end] : model) {
        if (end <= from) continue;
        if (begin >= from && begin - from >= count) break;
        from = end;
      }
      return from;
    };
    const auto is_free = [&](std::uint64_t begin, std::uint64_t end) {
      const auto next = model.lower_bound(begin);
      return (next == model.end() || next->first >= end) && (next == model.begin() || std::prev(next)->second <= begin);
    };
    for (int step = 0; step < 4000; ++step) {
      const std::uint64_t page = random.below(pages), count = 1 + random.below(seed % 2 == 0 ? 4 : 60);
      switch (random.below(5)) {
        case 0:
        case 1: {
          ASSERT_EQ(map.is_free(low + page * page_bytes, count * page_bytes), is_free(page, page + count));
          if (!is_free(page, page + count)) break;
          ASSERT_TRUE(map.insert(fields(page, count, page)).ok());
          model[page] = page + count;
          break;
        }
        case 2: {
          const auto it = model.lower_bound(page);
          Region* region = map.find(low + page * page_bytes);
          ASSERT_EQ(region != nullptr, !is_free(page, page + 1));
          if (it == model.end()) break;
          region = map.first_behind(low + it->first * page_bytes);
          ASSERT_EQ(region->begin, low + it->first * page_bytes);
          map.destroy(*region);
          model.erase(it);
          break;
        }
        case 3: {
          ASSERT_TRUE(map.split_at(low + page * page_bytes).ok());
          auto it = model.upper_bound(page);
          if (it == model.begin() || (--it)->first == page || it->second <= page) break;
          model[page] = std::exchange(it->second, page);
          if (random.below(2) == 0) break;
          map.join_at(low + page * page_bytes);
          it->second = model[page];
          model.erase(page);
          break;
        }
        default: {
          const std::uint64_t from = random.below(pages);
          const std::uint64_t expected = lowest_gap(from, count);
          const auto found = map.find_gap(count * page_bytes, page_bytes, 0, low + from * page_bytes, high);
          ASSERT_TRUE(found.has_value());
          ASSERT_EQ((*found - low) / page_bytes, expected) << "seed " << seed << " step " << step;
          const VirtualAddress end = low + (from + 100) * page_bytes;
          const auto within = map.find_gap(count * page_bytes, page_bytes, 0, low + from * page_bytes, end);
          ASSERT_EQ(within.has_value(), expected + count <= from + 100);
          // Aligned ones may lie higher, and are free.
          const auto aligned =
              map.find_gap(count * page_bytes, large_page_bytes, 3 * page_bytes, low + from * page_bytes, high);
          ASSERT_TRUE(aligned && aligned->value() % large_page_bytes == 3 * page_bytes && *aligned >= *found);
          ASSERT_TRUE(map.is_free(*aligned, count * page_bytes));
        }
      }
      ASSERT_EQ(map.size(), model.size());
    }
    auto expected = model.begin();
    for (const Region* region = map.first(); region != nullptr; region = map.after(*region), ++expected) {
      ASSERT_EQ((region->begin - low) / page_bytes, expected->first);
      ASSERT_EQ((region->end() - low) / page_bytes, expected->second);
    }
    ASSERT_EQ(expected, model.end());
  }
}

TEST_F(RegionMaps, TakeAHoleOfTheRightSizeAgainEvenWhereAlignmentIsWanted) {
  RegionMap map(heap);
  const std::uint64_t first = (large_page_bytes - low.value() % large_page_bytes) / page_bytes;
  ASSERT_TRUE(map.insert(fields(0, first)).ok() && map.insert(fields(first + 512, 512)).ok());
  EXPECT_EQ(map.find_gap(large_page_bytes, large_page_bytes, 0, low, high), low + first * page_bytes);
  EXPECT_EQ(map.find_gap(large_page_bytes, large_page_bytes, 4 * page_bytes, low, high),
            low + (first + 1024 + 4) * page_bytes);
  EXPECT_FALSE(map.find_gap(high - low, page_bytes, 0, low, high));
  EXPECT_FALSE(map.find_gap(~std::uint64_t{0}, page_bytes, 0, low, high));
}

TEST_F(RegionMaps, JoinOnlyWhatGoesOn) {
  RegionMap map(heap);
  const auto joins = [&](RegionFields lower, RegionFields upper) {
    EXPECT_TRUE(map.insert(lower).ok() && map.insert(upper).ok());
    map.join_at(upper.begin);
    const bool joined = map.size() == 1;
    while (map.first() != nullptr) map.destroy(*map.first());
    return joined;
  };
  const RegionFields lower = fields(10, 2, 5), upper = fields(12, 3, 7);
  EXPECT_TRUE(joins(lower, upper));
  EXPECT_FALSE(joins(lower, fields(13, 3, 8)));
  EXPECT_FALSE(joins(lower, fields(12, 3, 8)));
  const auto differs = [&](auto&& change) {
    RegionFields other = upper;
    change(other);
    return !joins(lower, other);
  };
  EXPECT_TRUE(differs([](RegionFields& it) { it.access = Access::read; }));
  EXPECT_TRUE(differs([](RegionFields& it) { it.most_access = Access::read; }));
  EXPECT_TRUE(differs([](RegionFields& it) { it.sharing = Sharing::shared; }));
  EXPECT_TRUE(differs([](RegionFields& it) { it.policy = PagePolicy::large_first; }));
  EXPECT_TRUE(differs([](RegionFields& it) { it.promised = true; }));
  EXPECT_TRUE(differs([](RegionFields& it) { it.locked = true; }));
  EXPECT_TRUE(differs([](RegionFields& it) { it.guard_bytes = page_bytes; }));
  EXPECT_TRUE(differs([&](RegionFields& it) { it.object = &anonymous; }));
}

}  // namespace
}  // namespace ingot::os
