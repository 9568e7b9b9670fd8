#include "os/memory/frame_allocator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "base/random.h"
#include "os/memory/early_memory.h"
#include "os/memory/fake_memory.h"

namespace ingot::os {
namespace {

MemoryMap map_of(const std::vector<MemoryRange>& ranges) {
  MemoryMap map;
  for (const MemoryRange& range : ranges) EXPECT_TRUE(map.add(range).ok());
  return map;
}
MemoryMap usable(std::uint64_t bytes) { return map_of({{PhysicalAddress(0), bytes, MemoryKind::usable}}); }

FrameAllocator create(MemoryMap& map, const FakeMemory& memory) {
  auto made = FrameAllocator::create(map, memory.window(), memory.window().end());
  EXPECT_TRUE(made.ok());
  return std::move(made).value();
}

TEST(Bits512, FindsTheFirstAlignedRunLikeAPlainSearch) {
  RandomNumbers random(1);
  for (int round = 0; round < 2000; ++round) {
    Bits512 bits;
    std::vector<bool> plain(512, false);
    for (int change = 0; change < 6; ++change) {
      const auto begin = static_cast<unsigned>(random.below(512));
      const auto end = begin + static_cast<unsigned>(random.below(513 - begin));
      const bool value = change % 3 != 2;
      value ? bits.set_range(begin, end) : bits.clear_range(begin, end);
      for (unsigned bit = begin; bit < end; ++bit) plain[bit] = value;
    }
    const auto begin = static_cast<unsigned>(random.below(512));
    const auto end = begin + 1 + static_cast<unsigned>(random.below(512 - begin));
    for (unsigned order = 0; order <= 9; ++order) {
      const unsigned size = 1u << order;
      std::optional<unsigned> expected;
      for (unsigned first = 0; first + size <= 512 && !expected; first += size) {
        if (first < begin || first + size > end) continue;
        if (std::all_of(plain.begin() + first, plain.begin() + first + size, [](bool bit) { return bit; }))
          expected = first;
      }
      ASSERT_EQ(bits.find_run(order, begin, end), expected) << order << " in " << begin << ".." << end;
    }
  }
}

TEST(EarlyMemory, ComesFromTheTopOfUsableMemoryBelowTheLimit) {
  MemoryMap map = map_of({{PhysicalAddress(0x1800), 3 * page_bytes, MemoryKind::usable},
                          {PhysicalAddress(16 * mib), 10 * page_bytes + 5, MemoryKind::usable}});
  EXPECT_EQ(take_early_memory(map, 1, PhysicalAddress(gib)).value(), PhysicalAddress(16 * mib + 9 * page_bytes));
  EXPECT_EQ(take_early_memory(map, 2 * page_bytes, PhysicalAddress(1 * mib)).value(), PhysicalAddress(0x2000));
  EXPECT_FALSE(take_early_memory(map, 1, PhysicalAddress(1 * mib)).ok());
  EXPECT_FALSE(take_early_memory(map, 10 * page_bytes, PhysicalAddress(gib)).ok());
}

// The truth: which frames of a boot list are wholly usable and not the allocator's own.
std::set<std::uint64_t> usable_frames(const MemoryMap& map) {
  std::set<std::uint64_t> frames;
  for (const MemoryRange& range : map.ranges()) {
    if (range.kind != MemoryKind::usable) continue;
    for (std::uint64_t frame = (range.begin.value() + page_bytes - 1) / page_bytes;
         frame < range.end().value() / page_bytes; ++frame) {
      if (frame != 0) frames.insert(frame);
    }
  }
  return frames;
}

TEST(FrameAllocator, NeverGivesReservedMemoryAndNeverTheSameFrameTwice) {
  const FakeMemory memory(48 * mib);
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    RandomNumbers random(seed);
    MemoryMap map;
    ASSERT_TRUE(
        map.add({PhysicalAddress(random.below(2 * mib)), 20 * mib + random.below(26 * mib), MemoryKind::usable}).ok());
    for (std::uint64_t hole = random.below(12); hole > 0; --hole) {
      const auto kind = static_cast<MemoryKind>(1 + random.below(6));
      ASSERT_TRUE(
          map.add({PhysicalAddress(random.below(46 * mib)), random.below(seed % 2 ? 100000 : 3 * mib), kind}).ok());
    }
    // Old content must not matter: metadata is written where it is first needed.
    std::memset(memory.window().at<char>(PhysicalAddress(0)), static_cast<int>(seed * 37), 48 * mib);
    auto made = FrameAllocator::create(map, memory.window(), memory.window().end());
    ASSERT_TRUE(made.ok()) << made.error().text();
    FrameAllocator allocator = std::move(made).value();
    const std::set<std::uint64_t> truth = usable_frames(map);
    ASSERT_EQ(allocator.statistics().free, truth.size());

    std::vector<bool> free(48 * mib / page_bytes);
    for (const std::uint64_t frame : truth) free[frame] = true;
    std::uint64_t free_count = truth.size();
    std::map<std::uint64_t, unsigned> held;  // head -> order
    for (int step = 0; step < 3000; ++step) {
      if (held.empty() || random.below(100) < 55) {
        const auto order = static_cast<unsigned>(random.below(random.below(4) == 0 ? 13 : 3));
        const auto zone = static_cast<Zone>(random.below(3));
        auto frame = allocator.allocate(order, zone);
        if (!frame.ok()) continue;
        const std::uint64_t first = frame.value().value();
        ASSERT_TRUE(is_aligned(first, std::uint64_t{1} << order));
        free_count -= std::uint64_t{1} << order;
        for (std::uint64_t each = 0; each < (std::uint64_t{1} << order); ++each) {
          ASSERT_TRUE(free[first + each]);
          free[first + each] = false;
        }
        if (zone == Zone::below_16_mib) {
          ASSERT_LE((first << 12) + (page_bytes << order), 16 * mib);
        }
        held[first] = order;
      } else {
        auto victim = held.begin();
        std::advance(victim, static_cast<std::ptrdiff_t>(random.below(held.size())));
        const std::uint64_t frames = std::uint64_t{1} << victim->second;
        ASSERT_EQ(allocator.table().head_of(FrameNumber(victim->first + random.below(frames))).value(), victim->first);
        if (random.below(2) == 0) {
          allocator.release(FrameNumber(victim->first), victim->second);
        } else {  // in pieces, as the mapping of a split page goes away
          for (std::uint64_t each = 0; each < frames; ++each) {
            ASSERT_EQ(allocator.statistics().free, free_count);
            allocator.release(FrameNumber(victim->first + each), page_order);
          }
        }
        free_count += frames;
        for (std::uint64_t each = 0; each < frames; ++each) free[victim->first + each] = true;
        held.erase(victim);
      }
      ASSERT_EQ(allocator.statistics().free, free_count);
    }
    for (const auto& [first, order] : held) allocator.release(FrameNumber(first), order);
    // All of it can be had again, frame by frame, and not one more.
    std::set<std::uint64_t> again;
    for (;;) {
      auto frame = allocator.allocate(page_order);
      if (!frame.ok()) break;
      again.insert(frame.value().value());
    }
    ASSERT_EQ(again, truth);
  }
}

// Takes everything there is, the largest runs first: it is what the map lists as usable, and nothing else, each once.
void expect_exactly_the_usable_frames(MemoryMap map, const FakeMemory& memory) {
  const MemoryMap original = map;
  auto made = FrameAllocator::create(map, memory.window(), memory.window().end());
  ASSERT_TRUE(made.ok()) << made.error().text();
  FrameAllocator allocator = std::move(made).value();
  std::vector<bool> usable(memory.window().end().value() / page_bytes);
  std::uint64_t left = 0;
  for (const MemoryRange& range : map.ranges()) {
    const std::uint64_t begin = std::max(range.begin.rounded_up(page_bytes).value() / page_bytes, std::uint64_t{1});
    for (std::uint64_t frame = begin; range.kind == MemoryKind::usable && frame < range.end().value() / page_bytes;
         ++frame, ++left) {
      usable[frame] = true;
    }
  }
  EXPECT_EQ(allocator.statistics().free, left);
  for (unsigned order = giant_page_order + 1; order-- > 0;) {
    for (;;) {
      const auto run = allocator.allocate(order);
      if (!run.ok()) break;
      for (std::uint64_t frame = 0; frame < std::uint64_t{1} << order; ++frame, --left) {
        ASSERT_TRUE(usable[run.value().value() + frame]) << run.value().value() + frame;
        usable[run.value().value() + frame] = false;
      }
    }
  }
  EXPECT_EQ(left, 0u);
  // Its own tables came from usable memory, too.
  for (const MemoryRange& range : map.ranges()) {
    if (range.kind != MemoryKind::kernel) continue;
    const bool was_usable = std::ranges::any_of(original.ranges(), [&](const MemoryRange& old) {
      return (old.kind == MemoryKind::usable || old == range) && old.begin <= range.begin && range.end() <= old.end();
    });
    EXPECT_TRUE(was_usable) << range.begin.value();
  }
}

TEST(FrameAllocator, TakesMapsWithHolesForWhatTheyAre) {
  const FakeMemory memory(6 * gib);
  const auto usable = [](std::uint64_t begin, std::uint64_t end) {
    return MemoryRange{PhysicalAddress(begin), end - begin, MemoryKind::usable};
  };
  const auto reserved = [](std::uint64_t begin, std::uint64_t end) {
    return MemoryRange{PhysicalAddress(begin), end - begin, MemoryKind::reserved};
  };
  // A PC with a hole for devices below 4 GiB, and memory above.
  expect_exactly_the_usable_frames(
      map_of({usable(0, 0x9fc00), reserved(0x9fc00, mib), usable(mib, 3 * gib), usable(4 * gib, 5 * gib + 7 * mib)}),
      memory);
  // Whole GiBs without memory; a single frame far from all others; ranges that hold no whole frame.
  expect_exactly_the_usable_frames(map_of({usable(mib, 64 * mib), usable(3 * gib + mib, 3 * gib + mib + page_bytes),
                                           usable(5 * gib + 1, 5 * gib + page_bytes),
                                           usable(5 * gib + 3 * page_bytes - 1, 5 * gib + 4 * page_bytes + 1)}),
                                   memory);
  // A list that says everything twice and contradicts itself, with an empty entry.
  expect_exactly_the_usable_frames(
      map_of({usable(0, 2 * gib), usable(gib, 2 * gib), reserved(0, 4096), usable(gib, gib), reserved(gib - 5, gib + 5),
              reserved(100 * mib, 101 * mib), usable(0, 2 * gib)}),
      memory);
  // Like a laptop's: many reserved pieces.
  RandomNumbers random(3);
  for (int round = 0; round < 4; ++round) {
    MemoryMap map = map_of(
        {usable(0, 0x9f000), usable(mib, (1 + random.below(3)) * gib), usable(4 * gib, 4 * gib + random.below(gib))});
    for (int hole = 0; hole < 40; ++hole) {
      const std::uint64_t begin = random.below(5 * gib);
      ASSERT_TRUE(map.add(reserved(begin, begin + random.below(16 * mib))).ok());
    }
    expect_exactly_the_usable_frames(map, memory);
  }
}

TEST(FrameAllocator, FindsARunWheneverThereIsOne) {
  const FakeMemory memory(64 * mib);
  MemoryMap map = usable(64 * mib);
  FrameAllocator allocator = create(map, memory);
  RandomNumbers random(5);
  std::vector<FrameNumber> singles;
  for (;;) {
    auto frame = allocator.allocate(page_order);
    if (!frame.ok()) break;
    singles.push_back(frame.value());
  }
  std::set<std::uint64_t> free;
  while (!singles.empty()) {
    const std::size_t index = random.below(singles.size());
    std::swap(singles[index], singles.back());
    allocator.release(singles.back(), page_order);
    free.insert(singles.back().value());
    singles.pop_back();
    if (singles.size() % 500 != 0) continue;
    std::optional<unsigned> largest;
    for (unsigned order = 0; order <= 14; ++order) {
      const std::uint64_t size = std::uint64_t{1} << order;
      for (std::uint64_t first = 0; first < 64 * mib / page_bytes; first += size) {
        // A run lies within one zone.
        if (first < 4096 && first + size > 4096) continue;
        const auto begin = free.lower_bound(first);
        const auto end = free.lower_bound(first + size);
        if (static_cast<std::uint64_t>(std::distance(begin, end)) == size) largest = order;
        if (largest == order) break;
      }
    }
    ASSERT_FALSE(allocator.allocate(*largest + 1).ok());  // and what it learnt from that hides nothing smaller
    auto run = allocator.allocate(*largest);
    ASSERT_TRUE(run.ok());
    allocator.release(run.value(), *largest);
  }
}

TEST(FrameAllocator, GivesGiantPagesAndKeepsLowMemoryForDevices) {
  const FakeMemory memory(8 * gib);
  MemoryMap map = map_of({{PhysicalAddress(0), 0x9fc00, MemoryKind::usable},
                          {PhysicalAddress(1 * mib), 2 * gib - 1 * mib, MemoryKind::usable},
                          {PhysicalAddress(2 * gib), 2 * gib, MemoryKind::reserved},
                          {PhysicalAddress(4 * gib), 4 * gib, MemoryKind::usable}});
  FrameAllocator allocator = create(map, memory);
  const std::uint64_t low = allocator.statistics().free_below_4_gib;
  for (int giant = 0; giant < 3; ++giant) {
    auto frame = allocator.allocate(giant_page_order);
    ASSERT_TRUE(frame.ok());
    EXPECT_GE(frame.value().address(), PhysicalAddress(4 * gib));
  }
  EXPECT_EQ(allocator.statistics().free_below_4_gib, low);
  EXPECT_EQ(allocator.allocate(large_page_order).value().address(), PhysicalAddress(7 * gib));
  EXPECT_LT(allocator.allocate(large_page_order, Zone::below_4_gib).value().address(), PhysicalAddress(4 * gib));
  EXPECT_LT(allocator.allocate(large_page_order, Zone::below_16_mib).value().address(), PhysicalAddress(16 * mib));
  // The giant page between 1 and 2 GiB comes last of all.
  EXPECT_EQ(allocator.allocate(giant_page_order).value().address(), PhysicalAddress(1 * gib));
  auto none = allocator.allocate(giant_page_order);
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code(), ErrorCode::out_of_memory);
  EXPECT_EQ(allocator.statistics().failures, 1u);
}

TEST(FrameAllocator, StartsInFourMebibytesAndSaysWhatItsTablesCost) {
  const FakeMemory memory(4 * mib);
  MemoryMap map = map_of({{PhysicalAddress(0), 640 * 1024, MemoryKind::usable},
                          {PhysicalAddress(1 * mib), 3 * mib, MemoryKind::usable},
                          {PhysicalAddress(1 * mib), 300 * 1024, MemoryKind::kernel}});
  const FrameAllocator allocator = create(map, memory);
  EXPECT_LE(allocator.statistics().metadata_bytes, 16 * 1024u);
  EXPECT_GT(allocator.statistics().free * page_bytes, 3 * mib);
}

TEST(FrameAllocator, HandsOutTwoTebibytes) {
  constexpr std::uint64_t tib = 1024 * gib;
  const FakeMemory memory(2 * tib);
  MemoryMap full = usable(2 * tib);
  const FrameAllocator all = create(full, memory);
  EXPECT_EQ(all.statistics().unreachable_frames, 1u);  // frame 0
  EXPECT_GT(all.statistics().free, 2040 * gib / page_bytes);
  // Taking all of it would write all infos: the last 64 MiB will do.
  MemoryMap ends = map_of({{PhysicalAddress(0), 64 * mib, MemoryKind::usable},
                           {PhysicalAddress(2 * tib - 64 * mib), 64 * mib, MemoryKind::usable}});
  FrameAllocator allocator = create(ends, memory);
  const FrameNumber high = allocator.allocate(large_page_order).value();
  EXPECT_GE(high.address(), PhysicalAddress(2 * tib - 64 * mib));
  ASSERT_TRUE(allocator.pin(high + 7).ok());
  allocator.unpin(high + 9);
  allocator.release(high, large_page_order);
}

TEST(FrameAllocator, StaysBelowWhatIsMappedAndWhatTheWindowShows) {
  const FakeMemory memory(2 * gib);
  MemoryMap map = usable(3 * gib);
  auto made = FrameAllocator::create(map, memory.window(), PhysicalAddress(32 * mib));
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(made.value().statistics().unreachable_frames, gib / page_bytes + 1);  // and frame 0
  EXPECT_EQ(map.bytes_of(MemoryKind::kernel), made.value().statistics().metadata_bytes);
  for (const MemoryRange& range : map.ranges()) {
    if (range.kind == MemoryKind::kernel) {
      EXPECT_LE(range.end(), PhysicalAddress(32 * mib));
    }
  }
}

TEST(FrameAllocator, TakesOverTheImageOnceItIsUsedUp) {
  const FakeMemory memory(16 * mib);
  MemoryMap map = usable(16 * mib);
  // Behind all usable memory, where its tables would not reach by themselves.
  ASSERT_TRUE(map.add({PhysicalAddress(9 * mib), 7 * mib, MemoryKind::image}).ok());
  FrameAllocator allocator = FrameAllocator::create(map, memory.window(), memory.window().end()).value();
  const FrameStatistics before = allocator.statistics();
  const FrameNumber begin = FrameNumber::containing(PhysicalAddress(10 * mib));
  allocator.adopt(begin, begin + 1);
  allocator.adopt(begin + 1, begin + 6 * mib / page_bytes);
  const FrameStatistics after = allocator.statistics();
  EXPECT_EQ(after.free, before.free + 6 * mib / page_bytes);
  EXPECT_EQ(after.total, before.total + 6 * mib / page_bytes);
  EXPECT_EQ(after.adopted, 6 * mib / page_bytes);
  std::uint64_t of_the_image = 0;
  for (auto frame = allocator.allocate(page_order); frame.ok(); frame = allocator.allocate(page_order)) {
    of_the_image += frame.value() >= begin ? 1 : 0;
  }
  EXPECT_EQ(of_the_image, 6 * mib / page_bytes);
}

TEST(FrameAllocator, RefusesAMapWithoutMemory) {
  const FakeMemory memory(mib);
  MemoryMap empty;
  EXPECT_FALSE(FrameAllocator::create(empty, memory.window(), memory.window().end()).ok());
  MemoryMap small = usable(3 * page_bytes);
  EXPECT_FALSE(FrameAllocator::create(small, memory.window(), memory.window().end()).ok());
}

TEST(FrameAllocator, FreesWithTheLastReferenceOrPin) {
  const FakeMemory memory(16 * mib);
  MemoryMap map = usable(16 * mib);
  FrameAllocator allocator = create(map, memory);
  const std::uint64_t free = allocator.statistics().free;
  const FrameNumber frame = allocator.allocate(large_page_order).value();
  FrameInfo& info = allocator.table().info(frame);
  info.add_references(512);  // a second mapping
  ASSERT_TRUE(allocator.pin(frame + 9).ok());
  allocator.release(frame, large_page_order);
  for (unsigned page = 0; page < 512; ++page) allocator.release(frame + page, page_order);
  EXPECT_EQ(allocator.statistics().free, free - 512);
  EXPECT_EQ(info.pins(), 1u);
  allocator.unpin(frame + 100);
  EXPECT_EQ(allocator.statistics().free, free);

  const FrameNumber other = allocator.allocate(page_order).value();
  FrameInfo& counted = allocator.table().info(other);
  for (std::uint32_t pin = 0; pin < FrameInfo::most_pins; ++pin) ASSERT_TRUE(allocator.pin(other).ok());
  EXPECT_FALSE(allocator.pin(other).ok());
  EXPECT_EQ(counted.pins(), FrameInfo::most_pins);
  EXPECT_EQ(counted.references(), 1u);
}

TEST(FrameAllocatorDeathTest, TrapsOnADoubleFree) {
  const FakeMemory memory(16 * mib);
  MemoryMap map = usable(16 * mib);
  FrameAllocator allocator = create(map, memory);
  const FrameNumber frame = allocator.allocate(page_order).value();
  allocator.release(frame, page_order);
  EXPECT_DEATH(allocator.release(frame, page_order), "");
  EXPECT_DEATH(allocator.release(FrameNumber(1u << 20), page_order), "");
  const FrameNumber pair = allocator.allocate(1).value();
  EXPECT_DEATH(allocator.release(pair, 2), "");
}

}  // namespace
}  // namespace ingot::os
