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
    // Some must lie side by side, as gradients do.
    std::int64_t place = 0;
    for (std::size_t index = 0; index < buffers.size() && index < static_cast<std::size_t>(round % 8); ++index) {
      buffers[index].place = place;
      place += 5056;
    }
    const ArenaLayout layout = lay_out(buffers);
    EXPECT_GE(layout.bytes, layout.live_bytes);
    for (std::size_t a = 0; a < buffers.size(); ++a) {
      EXPECT_EQ(layout.offsets[a] % arena_alignment, 0);
      if (buffers[a].place >= 0) {
        EXPECT_EQ(layout.offsets[a], buffers[a].place);
      }
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
  EXPECT_EQ(layout.live_bytes, layout.bytes);
}

// Lives as they are in a training step: what layers keep dies in the reverse order while gradients come into being at
// fixed places.
TEST(Arena, IsLittleLargerThanWhatIsAliveInATrainingStep) {
  constexpr std::int64_t width = 3 << 19;
  for (int layers = 2; layers <= 12; ++layers) {
    std::vector<BufferLife> buffers;
    const int half = 10 * layers;
    buffers.push_back({5 * width, half - 1, half + 1});
    std::int64_t place = 0;
    for (int layer = 0; layer < layers; ++layer) {
      const int forward = 10 * layer;
      const int backward = 2 * half - forward;  // where the layer's backward steps end
      int step = 0;
      for (const int rows : {1, 3, 1, 1, 1, 4, 4, 1}) {
        const bool is_kept = step != 0 && step != 4 && step != 6;
        buffers.push_back({rows * width, forward + step, is_kept ? backward - step : forward + step + 1});
        if (!is_kept) buffers.push_back({rows * width, backward - step - 1, backward - step});
        buffers.push_back({rows * width, backward - step - 2, backward - step - 1});
        ++step;
      }
      for (const int eighths : {3, 9, 12, 12}) {
        buffers.push_back({eighths * width / 8, backward - 2 * (step - 4), 2 * half, place});
        place += eighths * width / 8;
        ++step;
      }
    }
    const ArenaLayout layout = lay_out(buffers);
    EXPECT_LE(static_cast<double>(layout.bytes), 1.03 * static_cast<double>(layout.live_bytes)) << layers;
  }
}

TEST(Arena, WhatLiesBelowAFixedBufferMayHoldOthersBeforeIt) {
  const std::vector<BufferLife> buffers = {{4096, 5, 9, 0}, {4096, 0, 4}, {4096, 3, 6}};
  const ArenaLayout layout = lay_out(buffers);
  EXPECT_EQ(layout.offsets[0], 0);
  EXPECT_EQ(layout.offsets[1], 0);
  EXPECT_EQ(layout.offsets[2], 4096);
  EXPECT_EQ(layout.bytes, 8192);
}

TEST(Arena, NothingNeedsNothing) {
  EXPECT_EQ(lay_out({}).bytes, 0);
  const BufferLife empty{0, 0, 3};
  EXPECT_EQ(lay_out(std::span(&empty, 1)).bytes, 0);
}

}  // namespace
}  // namespace ingot
