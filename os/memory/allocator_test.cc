#include "os/memory/allocator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <vector>

#include "base/random.h"
#include "os/memory/bump_allocator.h"
#include "os/memory/fake_memory.h"
#include "os/memory/linked_list_allocator.h"
#include "os/memory/owned.h"
#include "os/memory/slab_allocator.h"

namespace ingot::os {
namespace {

// A machine of about so many pages, and how many of them are taken.
struct CountedPages {
  explicit CountedPages(std::uint64_t pages) : memory((pages + 4) * page_bytes), frames(frames_of(memory)) {}
  PhysicalWindow window() const { return memory.window(); }
  std::uint64_t taken() const { return frames.statistics().total - frames.statistics().free; }

  FakeMemory memory;
  FrameAllocator frames;
};

// What every allocator promises: blocks are aligned, do not overlap, keep their content, and all come back.
void expect_promises(Allocator& heap, std::uint64_t seed, std::size_t largest) {
  struct Block {
    std::size_t bytes, alignment;
    unsigned char content;
  };
  RandomNumbers random(seed);
  std::map<unsigned char*, Block> live;
  for (int step = 0; step < 6000; ++step) {
    if (live.empty() || random.below(100) < (step / 1000 % 2 ? 35u : 65u)) {
      const std::size_t bytes = 1 + random.below(random.below(8) == 0 ? largest : 200);
      const std::size_t alignment = std::size_t{1} << random.below(random.below(10) == 0 ? 13 : 6);
      auto made = heap.allocate(bytes, alignment);
      if (!made.ok()) {
        ASSERT_EQ(made.error().code(), ErrorCode::out_of_memory);
        continue;
      }
      auto* block = static_cast<unsigned char*>(made.value());
      ASSERT_EQ(reinterpret_cast<std::uintptr_t>(block) % alignment, 0u);
      const auto next = live.lower_bound(block);
      ASSERT_TRUE(next == live.end() || block + bytes <= next->first);
      if (next != live.begin()) {
        const auto before = std::prev(next);
        ASSERT_LE(before->first + before->second.bytes, block);
      }
      ASSERT_EQ(block[bytes / 2], CountingAllocator::fresh_byte);
      const auto content = static_cast<unsigned char>(step);
      std::memset(block, content, bytes);
      live[block] = {bytes, alignment, content};
    } else {
      auto victim = live.begin();
      std::advance(victim, static_cast<std::ptrdiff_t>(random.below(live.size())));
      const auto [bytes, alignment, content] = victim->second;
      ASSERT_TRUE(
          std::all_of(victim->first, victim->first + bytes, [&](unsigned char byte) { return byte == content; }));
      heap.free(victim->first, bytes, alignment);
      live.erase(victim);
    }
    ASSERT_EQ(heap.statistics().live_blocks, live.size());
  }
  ASSERT_EQ(heap.expect_no_leak().ok(), live.empty());
  for (const auto& [block, about] : live) heap.free(block, about.bytes, about.alignment);
  ASSERT_TRUE(heap.expect_no_leak().ok());
  ASSERT_GT(heap.statistics().peak_bytes, 0u);
}

TEST(SlabAllocator, KeepsAnAllocatorsPromises) {
  CountedPages pages(20000);
  SlabAllocator heap(pages.frames, pages.window(), Poison::on);
  for (std::uint64_t seed = 0; seed < 3; ++seed) expect_promises(heap, seed, 20000);
  EXPECT_EQ(heap.page_count(), pages.taken());
  EXPECT_LE(pages.taken(), SlabAllocator::class_bytes.size());  // one spare for each class
  heap.trim();
  EXPECT_EQ(pages.taken(), 0u);
}

TEST(SlabAllocator, KeepsThemWhenPagesRunOut) {
  CountedPages pages(40);
  SlabAllocator heap(pages.frames, pages.window(), Poison::on);
  expect_promises(heap, 7, 9000);
  EXPECT_GT(heap.statistics().failures, 0u);
}

TEST(SlabAllocator, ReturnsAllPagesAfterAPeak) {
  CountedPages pages(20000);
  SlabAllocator heap(pages.frames, pages.window(), Poison::off);
  std::vector<void*> blocks;
  for (int count = 0; count < 5000; ++count) blocks.push_back(heap.allocate(64).value());
  EXPECT_LE(pages.taken(), 5000u / 63 + 1);  // 63 blocks beside the slab's header
  for (void* block : blocks) heap.free(block, 64);
  EXPECT_EQ(pages.taken(), 1u);
}

TEST(SlabAllocatorDeathTest, FindsAWriteAfterFreeAndAWrongSize) {
  CountedPages pages(10);
  SlabAllocator heap(pages.frames, pages.window(), Poison::on);
  auto* block = static_cast<unsigned char*>(heap.allocate(100).value());
  void* other = heap.allocate(100).value();
  EXPECT_DEATH(heap.free(block, 20), "");
  heap.free(block, 100);
  block[20] = 1;
  EXPECT_DEATH(static_cast<void>(heap.allocate(100)), "");
  block[20] = CountingAllocator::freed_byte;
  heap.free(other, 100);
}

TEST(LinkedListAllocator, KeepsAnAllocatorsPromisesAndJoinsItsPieces) {
  std::vector<std::byte> range(300001);
  const std::span<std::byte> unaligned = std::span<std::byte>(range).subspan(1);
  LinkedListAllocator heap(unaligned, Poison::on);
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    expect_promises(heap, seed, 20000);
    EXPECT_EQ(heap.free_pieces(), 1u);
  }
  EXPECT_TRUE(heap.allocate(299900, 16).ok());
}

TEST(LinkedListAllocatorDeathTest, FindsABlockGivenBackTwice) {
  std::vector<std::byte> range(4096);
  LinkedListAllocator heap(range, Poison::off);
  void* first = heap.allocate(64).value();
  static_cast<void>(heap.allocate(64).value());
  heap.free(first, 64);
  EXPECT_DEATH(heap.free(first, 64), "");
}

TEST(BumpAllocator, KeepsAnAllocatorsPromisesAndStartsAnew) {
  std::vector<std::byte> range(200000);
  BumpAllocator heap(range, Poison::on);
  for (std::uint64_t seed = 0; seed < 3; ++seed) expect_promises(heap, seed, 5000);
  EXPECT_TRUE(heap.allocate(200000, 1).ok());
  EXPECT_FALSE(heap.allocate(1, 1).ok());
}

TEST(Allocator, RefusesSizesThatCannotBe) {
  std::vector<std::byte> range(4096);
  BumpAllocator heap(range, Poison::off);
  EXPECT_EQ(heap.allocate(0).error().code(), ErrorCode::invalid_argument);
  EXPECT_EQ(heap.allocate(1, 3).error().code(), ErrorCode::invalid_argument);
  EXPECT_EQ(heap.allocate(~std::size_t{0}).error().code(), ErrorCode::invalid_argument);
  EXPECT_EQ(heap.allocate(1, std::size_t{1} << 63).error().code(), ErrorCode::out_of_memory);
}

TEST(Owned, DestroysWhatItHoldsOnce) {
  struct Counted {
    explicit Counted(int& alive) : count(alive) { ++count; }
    ~Counted() { --count; }
    int& count;
  };
  CountedPages pages(10);
  SlabAllocator heap(pages.frames, pages.window(), Poison::on);
  int alive = 0;
  {
    Owned<Counted> first = make_owned<Counted>(heap, alive).value();
    Owned<Counted> second = std::move(first);
    EXPECT_FALSE(first);  // NOLINT(bugprone-use-after-move): it holds nothing now, which is what is asked
    first = make_owned<Counted>(heap, alive).value();
    EXPECT_EQ(alive, 2);
    first = std::move(second);
    EXPECT_EQ(alive, 1);
  }
  EXPECT_EQ(alive, 0);
  EXPECT_TRUE(heap.expect_no_leak().ok());
}

}  // namespace
}  // namespace ingot::os
