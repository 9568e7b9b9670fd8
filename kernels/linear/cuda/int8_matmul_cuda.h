// What a launch of linear.int8_matmul is told. Codes without a sign are read as those with one, less 128.
#pragma once

#include <cstdint>

#include "kernels/device/marks.h"

namespace ingot {

// One number for all rows, or one a row.
template <class Element>
struct PerRow {
  const Element* data;  // null: zeros
  std::int64_t stride;  // 0: one for all

  INGOT_ON_DEVICE Element at(std::uint32_t row) const { return data == nullptr ? Element{} : data[row * stride]; }
};

struct Int8Factor {
  const std::uint8_t* data;
  std::int64_t stride;  // from row to row
  PerRow<float> scale;
  PerRow<std::int32_t> zero;
  std::uint32_t rows;
  bool is_unsigned;
};

struct Int8Products {
  Int8Factor x;
  Int8Factor weights;
  std::uint32_t depth;
  const float* bias;  // null: none
  float* y;
  std::int64_t y_stride;
  std::int32_t* accumulators;  // null: nobody asked for them
  std::int64_t accumulators_stride;
};

inline constexpr std::uint32_t int8_columns = 16;
inline constexpr std::uint32_t int8_tiles = 4;  // of 8 tokens
inline constexpr std::uint32_t int8_warps = 4;

}  // namespace ingot
