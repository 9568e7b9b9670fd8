// What launches of the device functions of rotary positions are told.
//
// Frequencies come from the host, which computes them from attributes alone: a power that rounds otherwise would show
// at far positions. A launch carries as many as its parameters hold, and there are as many launches as that takes.
#pragma once

#include <cstdint>

#include "kernels/device/row_groups.h"
#include "kernels/device/view.h"

namespace ingot {

struct FrequencyList {
  static constexpr std::uint32_t most = 256;

  std::uint32_t begin = 0;  // the pair of the first
  std::uint32_t count = 0;
  const float* divisors = nullptr;  // frequency_factors, by pair; null: none
  std::int64_t divisor_stride = 0;
  double frequencies[most] = {};
};

// Heads to turn. A block has one token, and heads_per_block of its heads.
struct TurnedHeads {
  const float* x;
  float* y;
  std::int64_t x_token_stride, x_head_stride;
  std::int64_t y_token_stride, y_head_stride;
  std::uint32_t heads;
  std::uint32_t heads_per_block;
  std::uint32_t width;  // of a head
  std::uint32_t pairs;  // of a head that are turned
  bool is_interleaved;
  bool is_grouped;  // four pairs that follow each other begin at multiples of 16 bytes, on both sides
  bool is_inverse;
};

struct PairTurn {
  float cosine;
  float sine;
};

struct RopeHeads {
  TurnedHeads heads;
  DeviceTensor<const std::int32_t> positions;  // [tokens], or [sections, tokens]
  DeviceTensor<const std::int32_t> sections;   // without data: none
  double magnitude;
  FrequencyList list;
};

// Blocks along the second axis: those of rope.heads, then those of second.
struct JointRopeHeads {
  RopeHeads rope;
  TurnedHeads second;
  std::uint32_t first_blocks;
};

struct RopeTableRows {
  DeviceTensor<const std::int32_t> positions;
  DeviceTensor<float> cosine;
  DeviceTensor<float> sine;
  RowGroups groups;  // a pair each
  double magnitude;
  FrequencyList list;
};

struct SinusoidalRows {
  DeviceTensor<const float> x;  // without data: zeros
  DeviceTensor<const std::int32_t> positions;
  DeviceTensor<float> y;
  RowGroups groups;  // a pair each
  std::uint32_t pairs;
  bool is_interleaved;
  FrequencyList list;
};

struct RopeApplyHeads {
  TurnedHeads heads;
  DeviceTensor<const float> cosine;
  DeviceTensor<const float> sine;
  DeviceTensor<const std::int32_t> positions;  // without data: token t takes row t
};

}  // namespace ingot
