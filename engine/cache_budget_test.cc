#include "engine/cache_budget.h"

#include <gtest/gtest.h>

namespace ingot {
namespace {

constexpr CacheGeometry small_geometry{
    .page_length = 4, .pages_per_sequence = 5, .sequences = 2, .ring_window = 6, .ring_pages = 4};
constexpr CacheShares most_shares{.pages = 10, .checkpoints = 6};

CacheShares divided(const CacheCosts& costs, std::size_t memory) {
  return divide_cache_memory(costs, small_geometry, most_shares, Bytes(memory)).value();
}

TEST(CacheBudget, CountsPagesRingsStatesAndWhatAWindowSees) {
  Circuit circuit;
  circuit.tensors = {
      {.name = "whole", .storage = Storage::cache, .dtype = DType::f32, .shape = {3, 1, 4, 2}},
      {.name = "ring", .storage = Storage::cache, .dtype = DType::f16, .shape = {8, 1, 4, 2}, .window = 6},
      {.name = "state@0", .storage = Storage::state, .dtype = DType::f32, .shape = {20}, .run = 0}};
  const CacheCosts costs = cache_costs(circuit, small_geometry);
  EXPECT_EQ(costs.page, 4 * 2 * 4);
  EXPECT_EQ(costs.sequence, 4 * 16 + 128);
  EXPECT_EQ(costs.checkpoint, 2 * 16 + 128);  // five positions lie in two pages
}

TEST(CacheBudget, OneSequenceComesFirstAndTheRestIsHalved) {
  const CacheCosts costs{.page = 10, .sequence = 100, .checkpoint = 7};
  EXPECT_EQ(divide_cache_memory(costs, small_geometry, most_shares, Bytes(209)).error().code(),
            ErrorCode::out_of_range);
  EXPECT_EQ(divided(costs, 210).pages, 1);
  EXPECT_EQ(divided(costs, 210).checkpoints, 0);
  EXPECT_EQ(divided(costs, 250).pages, 5);
  EXPECT_EQ(divided(costs, 250).checkpoints, 0);
  EXPECT_EQ(divided(costs, 280).pages, 6);
  EXPECT_EQ(divided(costs, 280).checkpoints, 2);
  EXPECT_EQ(divided(costs, 10'000).pages, 10);
  EXPECT_EQ(divided(costs, 10'000).checkpoints, 6);
}

TEST(CacheBudget, NeverGivesMoreThanThereIs) {
  for (const std::int64_t page : {0, 3, 10}) {
    for (const std::int64_t checkpoint : {0, 1, 7, 40}) {
      for (std::int64_t memory = 200 + page; memory < 600; ++memory) {
        const CacheShares got =
            divided({.page = page, .sequence = 100, .checkpoint = checkpoint}, static_cast<std::size_t>(memory));
        EXPECT_LE(200 + got.pages * page + got.checkpoints * checkpoint, memory);
        EXPECT_LE(got.pages, most_shares.pages);
        EXPECT_LE(got.checkpoints, most_shares.checkpoints);
        EXPECT_GE(got.pages, 1);
      }
    }
  }
}

TEST(CacheBudget, WithoutLayersThatKeepAllPositionsPagesCostNothing) {
  const CacheShares got = divided({.page = 0, .sequence = 100, .checkpoint = 7}, 230);
  EXPECT_EQ(got.pages, 10);
  EXPECT_EQ(got.checkpoints, 4);
}

}  // namespace
}  // namespace ingot
