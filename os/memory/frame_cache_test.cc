#include "os/memory/frame_cache.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>
#include <vector>

#include "base/random.h"
#include "os/memory/fake_memory.h"

namespace ingot::os {
namespace {

TEST(FrameCache, KeepsFramesInBatchesAndLosesNone) {
  const FakeMemory memory(32 * mib);
  LockedFrames shared(LockRank::frames, frames_of(memory));
  const auto count_free = [&] { return shared.with([](FrameAllocator& frames) { return frames.statistics().free; }); };
  const FrameTable table = shared.with([](FrameAllocator& frames) { return frames.table(); });
  const std::uint64_t free = count_free();
  {
    FrameCache cache(shared, table);
    RandomNumbers random(9);
    std::set<std::uint64_t> seen;
    std::vector<std::pair<FrameNumber, unsigned>> held;
    for (int step = 0; step < 20000; ++step) {
      if (held.empty() || random.below(1000) < (step / 3000 % 2 ? 400u : 600u)) {
        const unsigned order = random.below(50) == 0 ? 3 : page_order;
        const FrameNumber frame = cache.allocate(order).value();
        ASSERT_TRUE(seen.insert(frame.value()).second);
        ASSERT_EQ(cache.table().info(frame).references(), 1u << order);
        held.emplace_back(frame, order);
      } else {
        std::swap(held[random.below(held.size())], held.back());
        seen.erase(held.back().first.value());
        cache.release(held.back().first, held.back().second);
        held.pop_back();
      }
      ASSERT_LE(cache.size(), cache.capacity);
    }
    for (const auto& [frame, order] : held) {
      const bool pinned = frame.value() % 2 == 0 && cache.pin(frame).ok();
      cache.release(frame, order);
      if (pinned) cache.unpin(frame);
    }
    EXPECT_EQ(count_free() + cache.size(), free);
  }
  EXPECT_EQ(count_free(), free);
}

TEST(FrameCache, GivesTheLastFrameAndThenTheError) {
  const FakeMemory memory(mib);
  FrameAllocator allocator = frames_of(memory);
  const FrameTable table = allocator.table();
  const std::uint64_t free = allocator.statistics().free;
  LockedFrames shared(LockRank::frames, std::move(allocator));
  FrameCache cache(shared, table);
  for (std::uint64_t frame = 0; frame < free; ++frame) ASSERT_TRUE(cache.allocate(page_order).ok());
  EXPECT_EQ(cache.allocate(page_order).error().code(), ErrorCode::out_of_memory);
}

}  // namespace
}  // namespace ingot::os
