// A peer that says anything at all, in every state: the connection stays consistent, and nothing is left of it.
#include <gtest/gtest.h>

#include "os/network/tcp/hostile_fixture.h"

namespace ingot::os::network {
namespace {

TEST(TcpHostilePeer, ChangesNothingThatMustHold) {
  for (unsigned seed = 1; seed <= 3000; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    int left = 200;
    play_hostile([&](std::uint32_t bound) { return static_cast<std::uint32_t>(random()) % bound; },
                 [&] { return left-- > 0; });
  }
}

TEST(TcpHostilePeer, ChangesNothingWithoutMemory) {
  for (unsigned seed = 1; seed <= 1000; ++seed) {
    std::mt19937 random(seed);
    int left = 100;
    play_hostile([&](std::uint32_t bound) { return static_cast<std::uint32_t>(random()) % bound; },
                 [&] { return left-- > 0; }, static_cast<int>(10 + random() % 300));
  }
}

// Thousands of holes cost a bounded number of ranges.
TEST(TcpHostilePeer, StoresABoundedNumberOfRanges) {
  PlayedPeer world;
  world.host.options.send_buffer = 4 << 20;
  world.scale = 7;
  world.accept();
  const std::size_t before = world.machine.heap.statistics().live_blocks;
  for (std::uint32_t i = 0; i < 5000; ++i) {
    world.say(world.segment(TcpHeader::ack, 3 + 2 * i, 1), "x");
    TcpInspector::check(*world.host.socket);
  }
  EXPECT_LT(world.machine.heap.statistics().live_blocks - before, 4u * ReceiveQueue::most_early + 8);
}

// SACKs of every second byte.
TEST(TcpHostilePeer, BelievesABoundedNumberOfRanges) {
  PlayedPeer world;
  world.accept();
  (void)world.write(std::string(14600, 'x'));
  const std::size_t before = world.machine.heap.statistics().live_blocks;
  for (std::uint32_t i = 0; i < 7000; ++i) {
    world.say(world.with_ranges(world.segment(TcpHeader::ack, 1, 1), {{3 + 2 * i, 4 + 2 * i}}));
  }
  EXPECT_LE(world.machine.heap.statistics().live_blocks - before, Scoreboard::most_ranges + 8u);
}

}  // namespace
}  // namespace ingot::os::network
