// Products of many rows of x with bf16 weights, on panels of bf16 numbers:
//
//   x        rounded to bf16, panels of a few rows, the whole depth, made once a call
//   weights  panels of a few rows, a block of the depth at a time, laid out by the thread that multiplies them
//
// A panel of rows lies as the machine's instructions read it: `step` neighbours of a row (those that an instruction
// takes together: a pair, four, a tile's row), then those of the next row; after the last row, the next step. The sums
// of a panel of x with one of weights go on from one block of the depth to the next in the order of the depth, so
// results do not depend on threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/units.h"
#include "kernels/linear/matmul/matmul.h"

namespace ingot {

// The depth of panels of x is padded with zeros to a multiple of the longest step.
inline constexpr int bf16_longest_step = 32;

// A product in two parts: the panels of x (bf16_panel_bytes), then any columns, each thread with a workspace of its
// own.
struct Bf16Product {
  std::int64_t least_rows;  // of x: dot products are faster with fewer
  int x_rows;               // of a panel
  int columns;              // rows of a panel of weights
  int columns_at_once;
  int rows_at_once;
  std::size_t workspace_bytes;
  void (*fill)(const Matmul::Arguments& arguments, Workers& workers, std::byte* panels);
  void (*multiply)(const Matmul::Arguments& columns, const std::byte* panels, std::byte* workspace);
};

constexpr std::int64_t bf16_padded_depth(std::int64_t depth) {
  return divide_rounding_up(depth, bf16_longest_step) * bf16_longest_step;
}
// Where the panel begins whose first row that is.
inline std::size_t bf16_panel_offset(const Matmul::Arguments& a, std::int64_t row) {
  return static_cast<std::size_t>(row * bf16_padded_depth(a.x.size(1))) * sizeof(std::uint16_t);
}
inline std::size_t bf16_panel_bytes(const Bf16Product& product, const Matmul::Arguments& a) {
  return bf16_panel_offset(a, divide_rounding_up(a.x.size(0), product.x_rows) * product.x_rows);
}

// Few enough for sixteen tasks where that is possible, so that threads end together.
inline std::int64_t bf16_chunk_columns(const Bf16Product& product, const Matmul::Arguments& a) {
  constexpr std::int64_t wanted_tasks = 16;
  const std::int64_t row_chunks = divide_rounding_up(a.x.size(0), product.rows_at_once);
  const std::int64_t panels = divide_rounding_up(a.weights.size(0) * row_chunks, wanted_tasks * product.columns);
  return std::clamp<std::int64_t>(panels * product.columns, product.columns, product.columns_at_once);
}

// Null on other architectures.
extern const Bf16Product* const bf16_panels_amx;
extern const Bf16Product* const bf16_panels_avx512;
extern const Bf16Product* const bf16_panels_neon;

}  // namespace ingot
