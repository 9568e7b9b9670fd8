#include "os/network/tcp/scoreboard.h"

#include <gtest/gtest.h>

#include <set>

#include "os/network/tcp/tcp_fixture.h"

namespace ingot::os::network {
namespace {

constexpr std::uint32_t origin = 0xffffff80;  // wraps on the way

SequenceNumber at(std::uint32_t place) { return SequenceNumber(origin + place); }

TEST(ScoreboardTest, AgreesWithASetOfBytes) {
  std::mt19937 random(3);
  TestMachine machine;
  for (int round = 0; round < 200; ++round) {
    Scoreboard board;
    std::set<std::uint32_t> bytes;
    std::uint32_t acknowledged = 0;
    for (int step = 0; step < 60; ++step) {
      const std::uint32_t begin = acknowledged + random() % 200, end = begin + 1 + random() % 30;
      if (random() % 8 == 0) {
        acknowledged += random() % 40;
        board.drop_before(at(acknowledged), machine.its_blocks);
        bytes.erase(bytes.begin(), bytes.lower_bound(acknowledged));
      } else {
        const std::size_t before = bytes.size();
        for (std::uint32_t byte = begin; byte < end; ++byte) bytes.insert(byte);
        ASSERT_EQ(board.add({at(begin), at(end)}, machine.its_blocks), bytes.size() - before);
      }
      ASSERT_EQ(board.bytes(), bytes.size());
      const auto within = [&](std::uint32_t first, std::uint32_t last) {
        return std::distance(bytes.lower_bound(first), bytes.lower_bound(last));
      };
      ASSERT_EQ(board.bytes_within({at(begin), at(end)}), within(begin, end));
      const SequenceRange hole = board.hole_within({at(begin), at(begin + 50)});
      std::uint32_t expected = begin;
      while (expected < begin + 50 && bytes.contains(expected)) ++expected;
      ASSERT_EQ(hole.is_empty(), expected == begin + 50);
      if (hole.is_empty()) continue;
      ASSERT_EQ(hole.begin, at(expected));
      ASSERT_EQ(within(expected, expected + hole.bytes()), 0);
    }
    board.clear(machine.its_blocks);
  }
}

// RFC 6675 4: IsLost.
TEST(ScoreboardTest, CountsAsLostWhatThreeSegmentsPassed) {
  TestMachine machine;
  Scoreboard board;
  board.add({at(100), at(110)}, machine.its_blocks);
  board.add({at(300), at(310)}, machine.its_blocks);
  EXPECT_EQ(board.lost_before(at(0), 100), at(0));
  board.add({at(500), at(510)}, machine.its_blocks);
  EXPECT_EQ(board.lost_before(at(0), 100), at(100)) << "three ranges behind it";
  board.add({at(510), at(801)}, machine.its_blocks);
  EXPECT_EQ(board.lost_before(at(0), 100), at(500)) << "more than two segments' bytes behind it";
  board.clear(machine.its_blocks);
}

}  // namespace
}  // namespace ingot::os::network
