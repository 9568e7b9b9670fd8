#include "profile/ladder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <span>

namespace ingot {
namespace {

TEST(Ladder, EveryRungRunsAndNamesWhatItBuildsOn) {
  const Machine machine = Machine::detect();
  const Peaks peaks{.read_bytes_per_second = 1e10, .fma_flops = 1e11, .int8_dot_operations = 4e11, .threads = 1};
  std::vector<std::string> begun;
  const Result<std::vector<LadderRung>> climbed =
      climb_ladder(machine, {peaks, peaks}, 2, {.rows = 19, .columns = 40, .depth = 96},
                   [&](std::string_view name) { begun.emplace_back(name); });
  ASSERT_TRUE(climbed.ok()) << climbed.error().text();
  const std::vector<LadderRung>& rungs = climbed.value();
  EXPECT_EQ(begun, (std::vector<std::string>{"scalar", "gemv", "blocked", "simd", "threads", "quantized"}));
  ASSERT_EQ(rungs.size(), begun.size());
  for (std::size_t index = 0; index < rungs.size(); ++index) {
    const LadderRung& rung = rungs[index];
    EXPECT_EQ(rung.name, begun[index]);
    EXPECT_FALSE(rung.variant.empty());
    EXPECT_GT(rung.gflops, 0);
    EXPECT_EQ(rung.threads, index < 4 ? 1 : 2);
    EXPECT_EQ(rung.share_of_roof > 0, !rung.roof.empty()) << rung.name;
    const auto is_below = [&](const LadderRung& other) { return other.name == rung.builds_on; };
    EXPECT_EQ(std::ranges::count_if(std::span(rungs).first(index), is_below), index == 0 ? 0 : 1) << rung.name;
  }
  EXPECT_EQ(rungs.back().weights, "q8_0");
  EXPECT_NE(rungs.back().variant, "reference");
}

}  // namespace
}  // namespace ingot
