// The loops behind measured peaks: one set per instruction set, chosen by the features of the machine.
#pragma once

#include <cstddef>
#include <cstdint>

#include "machine/features.h"

namespace ingot {

// A loop that touches registers only. Returns a number made of its results, so that no compiler drops the work.
struct ComputeLoop {
  double (*run)(std::int64_t rounds) = nullptr;
  double operations_per_round = 0;
};

// Loops over memory: addresses are 64-byte aligned, sizes a multiple of stream_block.
constexpr std::size_t stream_block = 512;
struct StreamLoops {
  std::uint64_t (*read)(const std::byte* from, std::size_t bytes) = nullptr;
  void (*write)(std::byte* to, std::size_t bytes) = nullptr;
  void (*copy)(const std::byte* from, std::byte* to, std::size_t bytes) = nullptr;
};

// The best built loop that needs no more than these features; the baseline's when they are empty.
ComputeLoop best_fma_loop(FeatureSet features);
ComputeLoop best_int8_dot_loop(FeatureSet features);
ComputeLoop best_int8_matrix_loop(FeatureSet features);
ComputeLoop best_bf16_loop(FeatureSet features);
StreamLoops best_stream_loops(FeatureSet features);

// Of x86_64 alone, where the features say that there are tiles.
ComputeLoop int8_tile_loop();
ComputeLoop bf16_tile_loop();

}  // namespace ingot
