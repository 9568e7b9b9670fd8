#include "os/memory/page_table.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "base/random.h"
#include "os/arch/x86_64/page_table_format.h"
#include "os/memory/fake_memory.h"
#include "os/memory/frame_allocator.h"

namespace ingot::os {
namespace {

using Format = x86_64::PageTableFormat;
using Table = PageTable<Format>;

constexpr PageAttributes read_write{Access::read | Access::write, Privilege::user};

auto to(PageAttributes attributes) {
  return [attributes](const MappedPage&) { return attributes; };
}

struct RecordingFlusher final : TlbFlusher {
  explicit RecordingFlusher(const FrameAllocator& allocator) : frames(allocator) {}
  void flush(const TlbFlush& flush) override {
    flushes.push_back(flush);
    free_at_flush = frames.statistics().free;
  }
  const FrameAllocator& frames;
  std::vector<TlbFlush> flushes;
  std::uint64_t free_at_flush = 0;
};

class PageTables : public ::testing::Test {
 protected:
  PageTables() : frames(make(memory)), table(Table::create(frames, memory.window()).value()) {}

  static FrameAllocator make(const FakeMemory& memory) {
    MemoryMap map;
    EXPECT_TRUE(map.add({PhysicalAddress(0), 32 * mib, MemoryKind::usable}).ok());
    return FrameAllocator::create(map, memory.window(), memory.window().end()).value();
  }

  FakeMemory memory{32 * mib};
  FrameAllocator frames;
  Table table;
  RecordingFlusher flusher{frames};
};

TEST(PageTableFormat, KeepsEveryAttributeAtEveryLevel) {
  for (unsigned level = 0; level < 3; ++level) {
    const PhysicalAddress physical(0x000f'ffff'c000'0000u);
    for (unsigned access : {0u, 1u, 3u, 5u}) {
      for (Privilege privilege : {Privilege::kernel, Privilege::user}) {
        for (CacheMode cache :
             {CacheMode::write_back, CacheMode::write_through, CacheMode::write_combining, CacheMode::uncached}) {
          const PageAttributes attributes{static_cast<Access>(access), privilege, cache,
                                          static_cast<FrameOwnership>(level % 2)};
          for (PhysicalAddress address : {physical, PhysicalAddress(0)}) {
            const Format::Entry entry = Format::page(level, address, attributes);
            EXPECT_TRUE(Format::used(entry));
            EXPECT_TRUE(Format::is_page(level, entry));
            EXPECT_EQ(Format::page_of(level, entry), address);
            EXPECT_EQ(Format::attributes_of(level, entry), attributes);
            EXPECT_EQ((entry & Format::present) != 0, access != 0);
          }
        }
      }
    }
  }
  // The hardware's view of two entries, by hand: SDM tables 4-17 and 4-19.
  EXPECT_EQ(Format::page(0, PhysicalAddress(0x5000), read_write), 0x8000'0000'0000'5007u);
  EXPECT_EQ(Format::page(1, PhysicalAddress(0x200000),
                         {Access::read | Access::execute, Privilege::kernel, CacheMode::write_combining}),
            0x0000'0000'0020'0189u);
  EXPECT_TRUE(Format::canonical(VirtualAddress(0x7fff'ffff'ffff)));
  EXPECT_FALSE(Format::canonical(VirtualAddress(0x8000'0000'0000)));
  EXPECT_TRUE(Format::canonical(VirtualAddress(0xffff'8000'0000'0000u)));
}

TEST_F(PageTables, RefuseWhatCannotBe) {
  const VirtualAddress address(gib);
  const PhysicalAddress physical(2 * mib);
  EXPECT_FALSE(table.map(address + 1, physical, PageSize::small, read_write).ok());
  EXPECT_FALSE(table.map(address + page_bytes, physical, PageSize::large, read_write).ok());
  EXPECT_FALSE(table.map(address, physical + page_bytes, PageSize::large, read_write).ok());
  EXPECT_FALSE(table.map(VirtualAddress(0x8000'0000'0000), physical, PageSize::small, read_write).ok());
  EXPECT_FALSE(
      table.map(address, physical, PageSize::small, {Access::write | Access::execute, Privilege::kernel}).ok());
  EXPECT_FALSE(table.map_range(VirtualAddress(0x7fff'ffff'f000), physical, 2 * page_bytes, read_write).ok());
  EXPECT_FALSE(table.map_range(VirtualAddress(0xffff'ffff'ffff'f000u), physical, 2 * page_bytes, read_write).ok());
  ASSERT_TRUE(table.map(address, physical, PageSize::large, read_write).ok());
  EXPECT_FALSE(table.map(address + page_bytes, physical, PageSize::small, read_write).ok());
  EXPECT_FALSE(table.map(address, physical, PageSize::large, read_write).ok());
  EXPECT_FALSE(table.map(address, PhysicalAddress(0), PageSize::giant, read_write).ok());
  auto old_cpu = Table::create(frames, memory.window(), PageSize::large).value();
  EXPECT_FALSE(old_cpu.map(address, PhysicalAddress(gib), PageSize::giant, read_write).ok());
  ASSERT_TRUE(old_cpu.map_range(address, PhysicalAddress(gib), gib, read_write).ok());
  EXPECT_EQ(old_cpu.find(address + 5)->size, PageSize::large);
}

TEST_F(PageTables, MapARangeByTheLargestPagesAndReachTheLastOne) {
  const VirtualAddress begin(gib - 2 * mib - page_bytes);
  const PhysicalAddress physical(3 * gib - 2 * mib - page_bytes);
  ASSERT_TRUE(table.map_range(begin, physical, gib + 4 * mib + 2 * page_bytes, read_write).ok());
  std::map<PageSize, int> sizes;
  table.for_each(begin, gib + 4 * mib + 2 * page_bytes, [&](const MappedPage& page) { ++sizes[page.size]; });
  EXPECT_EQ(sizes, (std::map<PageSize, int>{{PageSize::small, 2}, {PageSize::large, 2}, {PageSize::giant, 1}}));
  for (std::uint64_t offset = 0; offset < gib + 4 * mib; offset += 1234567) {
    ASSERT_EQ(table.translate(begin + offset), physical + offset);
  }
  const VirtualAddress top(0xffff'ffff'ffe0'0000u);
  ASSERT_TRUE(table.map_range(top, PhysicalAddress(0), 2 * mib, {}).ok());
  EXPECT_EQ(table.translate(VirtualAddress(~std::uint64_t{0})), PhysicalAddress(2 * mib - 1));
  TlbBatch batch(flusher, frames);
  int removed = 0;
  ASSERT_TRUE(table.unmap(top + mib, mib, batch, [&](const MappedPage&) { ++removed; }).ok());
  EXPECT_EQ(removed, 256);
  EXPECT_EQ(table.translate(top + mib - 1), PhysicalAddress(mib - 1));
}

TEST_F(PageTables, GiveEmptyTablesBackOnlyAfterTheFlush) {
  const std::uint64_t free = frames.statistics().free;
  ASSERT_TRUE(table.map(VirtualAddress(5 * mib), PhysicalAddress(0x7000), PageSize::small, read_write).ok());
  EXPECT_EQ(table.table_count(), 4u);
  {
    TlbBatch batch(flusher, frames);
    ASSERT_TRUE(table.unmap(VirtualAddress(0), gib, batch, [](const MappedPage&) {}).ok());
    EXPECT_EQ(table.table_count(), 1u);
    EXPECT_EQ(frames.statistics().free, free - 3);
    EXPECT_TRUE(flusher.flushes.empty());
  }
  EXPECT_EQ(flusher.free_at_flush, free - 3);
  EXPECT_EQ(frames.statistics().free, free);
  ASSERT_EQ(flusher.flushes.size(), 1u);
  EXPECT_FALSE(flusher.flushes[0].everything);
  EXPECT_EQ(flusher.flushes[0].ranges[0], (StaleRange{VirtualAddress(5 * mib), 1, PageSize::small}));
}

TEST_F(PageTables, SplitKeepsTranslations) {
  const VirtualAddress address(4 * gib);
  ASSERT_TRUE(table.map(address, PhysicalAddress(8 * gib), PageSize::giant, read_write).ok());
  {
    TlbBatch batch(flusher, frames);
    ASSERT_TRUE(table.split(address + 5 * mib, PageSize::small, batch).ok());
  }
  EXPECT_EQ(table.table_count(), 4u);
  EXPECT_EQ(table.find(address)->size, PageSize::large);
  EXPECT_EQ(table.find(address + 5 * mib)->size, PageSize::small);
  EXPECT_EQ(table.translate(address + 5 * mib + 12345), PhysicalAddress(8 * gib + 5 * mib + 12345));
  EXPECT_EQ(flusher.flushes[0].ranges[0], (StaleRange{address, 1, PageSize::giant}));
}

TEST_F(PageTables, KeepWhatTheCpuNotedThroughEveryChange) {
  const VirtualAddress address(gib);
  ASSERT_TRUE(table.map(address, PhysicalAddress(8 * mib), PageSize::large, read_write).ok());
  TlbBatch batch(flusher, frames);
  ASSERT_TRUE(table.split(address, PageSize::small, batch).ok());
  // As the CPU would: mark one small page used and written.
  auto* entry = memory.window().at<Format::Entry>(table.root());
  for (unsigned level = 3; level > 0; --level) {
    entry =
        memory.window().at<Format::Entry>(Format::table_of(entry[address.value() / (page_bytes << (9 * level)) % 512]));
  }
  entry[7] |= Format::accessed | Format::dirty;
  EXPECT_TRUE(table.find(address + 7 * page_bytes)->dirty);
  EXPECT_FALSE(table.find(address + 6 * page_bytes)->dirty);
  ASSERT_TRUE(table.protect(address, 2 * mib, batch, to({Access::none, Privilege::user})).ok());
  EXPECT_TRUE(table.find(address + 7 * page_bytes)->dirty);
  EXPECT_EQ(table.translate(address + 5 * page_bytes), PhysicalAddress(8 * mib + 5 * page_bytes));
}

TEST_F(PageTables, ReplaceAPageOnlyAfterEveryCpuForgotTheOldOne) {
  const VirtualAddress address(gib);
  EXPECT_TRUE(table.vacant(address, PageSize::giant));
  ASSERT_TRUE(table.map(address, PhysicalAddress(0x5000), PageSize::small, read_write).ok());
  EXPECT_FALSE(table.vacant(address, PageSize::large));
  EXPECT_FALSE(table.vacant(address, PageSize::small));
  EXPECT_TRUE(table.vacant(address + page_bytes, PageSize::small));
  struct WatchingFlusher final : TlbFlusher {
    void flush(const TlbFlush&) override { seen_during_flush = watched->find(VirtualAddress(gib)).has_value(); }
    Table* watched = nullptr;
    bool seen_during_flush = true;
  } watcher;
  watcher.watched = &table;
  TlbBatch batch(watcher, frames);
  PhysicalAddress removed;
  table.replace(*table.find(address), PhysicalAddress(0x6000), read_write, batch,
                [&](const MappedPage& page) { removed = page.physical; });
  EXPECT_EQ(removed, PhysicalAddress(0x5000));
  EXPECT_FALSE(watcher.seen_during_flush);
  EXPECT_EQ(table.translate(address), PhysicalAddress(0x6000));
}

TEST_F(PageTables, FailWithoutAChangeWhenASplitFindsNoFrame) {
  const VirtualAddress address(gib);
  ASSERT_TRUE(table.map(address, PhysicalAddress(8 * mib), PageSize::large, read_write).ok());
  std::vector<FrameNumber> hoard;
  for (;;) {
    auto frame = frames.allocate(page_order);
    if (!frame.ok()) break;
    hoard.push_back(frame.value());
  }
  TlbBatch batch(flusher, frames);
  auto outcome = table.unmap(address + page_bytes, page_bytes, batch, [](const MappedPage&) { FAIL(); });
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().code(), ErrorCode::out_of_memory);
  EXPECT_EQ(table.find(address)->size, PageSize::large);
  ASSERT_TRUE(table.unmap(address, 2 * mib, batch, [](const MappedPage&) {}).ok());  // needs none
  for (const FrameNumber frame : hoard) frames.release(frame, page_order);
}

TEST_F(PageTables, ShareTheKernelsHalf) {
  const VirtualAddress kernel_area(0xffff'c000'0000'0000u);
  ASSERT_TRUE(table.prepare(kernel_area, page_bytes).ok());
  auto user = Table::create(frames, memory.window()).value();
  user.share_upper_half(table);
  ASSERT_TRUE(table.map(kernel_area, PhysicalAddress(0x9000), PageSize::small, {}).ok());
  EXPECT_EQ(user.translate(kernel_area + 1), PhysicalAddress(0x9001));
  TlbBatch batch(flusher, frames);
  ASSERT_TRUE(table.unmap(kernel_area, page_bytes, batch, [](const MappedPage&) {}).ok());
  ASSERT_TRUE(table.map(kernel_area + 4096, PhysicalAddress(0x9000), PageSize::small, {}).ok());
  EXPECT_EQ(user.translate(kernel_area + 4096), PhysicalAddress(0x9000));
  user.destroy();
}

// Against a plain map from page to frame, with mirrored flush bookkeeping: a CPU that remembers every translation it
// ever saw, and forgets only what flushes name, never sees one that is gone.
TEST_F(PageTables, AgreeWithAPlainMapUnderRandomChanges) {
  struct Model {
    PhysicalAddress physical;
    PageAttributes attributes;
  };
  struct ForgetfulCpu final : TlbFlusher {
    void flush(const TlbFlush& flush) override {
      if (flush.everything) remembered.clear();
      for (std::size_t index = 0; index < flush.range_count; ++index) {
        const StaleRange& range = flush.ranges[index];
        const std::uint64_t begin = range.begin.rounded_down(bytes_of(range.size)).value();
        remembered.erase(remembered.lower_bound(begin),
                         remembered.lower_bound(begin + range.pages * bytes_of(range.size)));
      }
    }
    std::map<std::uint64_t, Model> remembered;
  };
  const std::uint64_t free = frames.statistics().free;
  const VirtualAddress arena(512 * gib - 8 * mib);  // across tables of every level
  const std::uint64_t pages = 16 * mib / page_bytes;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    RandomNumbers random(seed);
    std::map<std::uint64_t, Model> model;
    ForgetfulCpu cpu;
    for (int step = 0; step < 400; ++step) {
      TlbBatch batch(cpu, frames);
      const bool coarse = random.below(2) == 0;
      const std::uint64_t first = coarse ? random.below(pages / 512) * 512 : random.below(pages);
      std::uint64_t count = coarse ? (1 + random.below(3)) * 512 : 1 + random.below(700);
      if (first + count > pages) count = pages - first;
      const VirtualAddress begin = arena + first * page_bytes;
      const unsigned access[] = {0, 1, 3, 5};
      const PageAttributes attributes{static_cast<Access>(access[random.below(4)]),
                                      static_cast<Privilege>(random.below(2)), static_cast<CacheMode>(random.below(4)),
                                      static_cast<FrameOwnership>(random.below(2))};
      switch (random.below(5)) {
        case 0:
        case 1: {
          const PhysicalAddress physical(coarse ? (1 + random.below(1000)) * 2 * mib
                                                : random.below(1u << 20) * page_bytes);
          const auto found = model.lower_bound(begin.value());
          const bool free_range = found == model.end() || found->first >= (begin + count * page_bytes).value();
          if (!free_range) break;
          ASSERT_TRUE(table.map_range(begin, physical, count * page_bytes, attributes).ok());
          for (std::uint64_t page = 0; page < count; ++page) {
            model[(begin + page * page_bytes).value()] = {physical + page * page_bytes, attributes};
          }
          break;
        }
        case 2: {
          std::uint64_t removed = 0;
          ASSERT_TRUE(table
                          .unmap(begin, count * page_bytes, batch,
                                 [&](const MappedPage& page) {
                                   ASSERT_EQ(model.at(page.address.value()).physical, page.physical);
                                   removed += bytes_of(page.size) / page_bytes;
                                 })
                          .ok());
          const auto from = model.lower_bound(begin.value());
          const auto to = model.lower_bound((begin + count * page_bytes).value());
          ASSERT_EQ(removed, static_cast<std::uint64_t>(std::distance(from, to)));
          model.erase(from, to);
          break;
        }
        case 3:
          ASSERT_TRUE(table.protect(begin, count * page_bytes, batch, to(attributes)).ok());
          for (auto page = model.lower_bound(begin.value());
               page != model.end() && page->first < (begin + count * page_bytes).value(); ++page) {
            page->second.attributes = attributes;
          }
          break;
        case 4: ASSERT_TRUE(table.split(begin, PageSize::small, batch).ok()); break;
      }
      batch.finish();
      for (const auto& [address, remembered] : cpu.remembered) {
        const auto now = model.find(address);
        ASSERT_TRUE(now != model.end()) << "a stale translation survived";
        ASSERT_EQ(now->second.physical, remembered.physical);
        ASSERT_EQ(now->second.attributes, remembered.attributes);
      }
      for (int probe = 0; probe < 200; ++probe) {
        const VirtualAddress address = arena + random.below(pages) * page_bytes;
        const auto expected = model.find(address.value());
        const auto page = table.find(address + 77);
        ASSERT_EQ(page.has_value(), expected != model.end());
        if (!page) continue;
        ASSERT_EQ(*table.translate(address), expected->second.physical);
        ASSERT_EQ(page->attributes, expected->second.attributes);
        cpu.remembered[address.value()] = expected->second;
      }
    }
    TlbBatch batch(cpu, frames);
    ASSERT_TRUE(table.unmap(arena, 16 * mib, batch, [](const MappedPage&) {}).ok());
    batch.finish();
    EXPECT_EQ(table.table_count(), 1u);
    EXPECT_EQ(frames.statistics().free, free);
  }
}

TEST(TlbFlush, TurnsIntoEverythingWhenItIsTooMuch) {
  TlbFlush flush;
  EXPECT_TRUE(flush.empty());
  for (std::uint64_t page = 0; page < TlbFlush::most_pages; ++page)
    flush.add(VirtualAddress(page * page_bytes), PageSize::small);
  EXPECT_EQ(flush.range_count, 1u);
  EXPECT_FALSE(flush.everything);
  flush.add(VirtualAddress(gib), PageSize::large);
  EXPECT_TRUE(flush.everything);
  TlbFlush scattered;
  for (std::uint64_t page = 0; page <= TlbFlush::range_capacity; ++page) {
    EXPECT_FALSE(scattered.everything);
    scattered.add(VirtualAddress(page * mib), PageSize::small);
  }
  EXPECT_TRUE(scattered.everything);
}

}  // namespace
}  // namespace ingot::os
