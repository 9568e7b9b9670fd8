#include "model/plan/arena.h"

#include <gtest/gtest.h>

#include <random>

namespace ingot {
namespace {

TEST(Arena, BuffersThatLiveTogetherNeverOverlap) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<BufferLife> buffers(1 + random() % 40);
    for (BufferLife& buffer : buffers) {
      buffer.bytes = static_cast<std::int64_t>(random() % 5000);
      buffer.first = static_cast<int>(random() % 50);
      buffer.last = buffer.first + static_cast<int>(random() % 10);
    }
    const ArenaLayout layout = lay_out(buffers);
    for (std::size_t a = 0; a < buffers.size(); ++a) {
      EXPECT_EQ(layout.offsets[a] % arena_alignment, 0);
      EXPECT_LE(layout.offsets[a] + buffers[a].bytes, layout.bytes);
      for (std::size_t b = 0; b < a; ++b) {
        const bool live_together = buffers[a].first <= buffers[b].last && buffers[b].first <= buffers[a].last;
        const bool overlap = layout.offsets[a] < layout.offsets[b] + buffers[b].bytes &&
                             layout.offsets[b] < layout.offsets[a] + buffers[a].bytes;
        EXPECT_FALSE(live_together && overlap) << "buffers " << a << " and " << b << " in round " << round;
      }
    }
  }
}

TEST(Arena, BuffersThatNeverMeetShareBytes) {
  std::vector<BufferLife> chain;
  for (int step = 0; step < 100; ++step) chain.push_back({1000, step, step + 1});
  const ArenaLayout layout = lay_out(chain);
  EXPECT_EQ(layout.bytes, 2 * 1024);  // two live at a time, each rounded up to the alignment
  EXPECT_EQ(layout.sum_bytes, 100 * 1024);
}

TEST(Arena, NothingNeedsNothing) {
  EXPECT_EQ(lay_out({}).bytes, 0);
  const BufferLife empty{0, 0, 3};
  EXPECT_EQ(lay_out(std::span(&empty, 1)).bytes, 0);
}

}  // namespace
}  // namespace ingot
