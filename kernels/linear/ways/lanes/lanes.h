// Few rows of x by weights in a block format, rows of weights side by side in the lanes of a register:
//
//   weights  256 elements of as many rows as a register has lanes, unpacked so that a register holds four neighbouring
//            codes of each row; they stay in the first-level cache while all rows of x meet them
//   x        four codes at a time, in all lanes by a broadcast
//
// A dot product then needs no sum across lanes, the scales of a group are one register, and what unpacking costs is
// shared by the rows of x. Integer sums over a group are exact; scales make floats of them in the order of the depth.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/linear/ways/floats/gemm.h"

namespace ingot {

inline constexpr int lane_depth = 256;
inline constexpr std::int64_t most_lane_rows = 16;  // of x
// Columns that are multiplied together, on any machine.
inline constexpr std::int64_t lane_granule = 16;

// 256 elements of a row of x. Spans of all rows follow each other, then those of the next 256 elements.
struct alignas(64) LaneSpan {
  std::int8_t codes[lane_depth];
  // Of each group, for what a format needs: what products of codes with an offset start from, in the form of the
  // instruction set; or scale * sum of the codes, where it has bases or minimums.
  std::int32_t corrections[16];
  float scaled_sums[16];
  float scales[8];  // of each block
};

constexpr std::size_t lane_span_bytes(std::int64_t rows, std::int64_t depth) {
  return static_cast<std::size_t>(rows * ((depth + lane_depth - 1) / lane_depth)) * sizeof(LaneSpan);
}

// Preconditions: rows <= most_lane_rows, block format, weights as rows.
struct LaneProduct {
  void (*encode)(const Gemm& gemm, std::byte* spans, std::int64_t begin, std::int64_t end);  // rows of x
  void (*columns)(const Gemm& gemm, const std::byte* spans);                                 // all of them
};
// Null on other architectures.
extern const LaneProduct* const lanes_avx512_vnni;
extern const LaneProduct* const lanes_avx_vnni;
extern const LaneProduct* const lanes_avx2;
// In lanes whatever the number of rows, where the two above multiply up to four rows of one format directly.
extern const LaneProduct* const lanes_even_avx_vnni;
extern const LaneProduct* const lanes_even_avx2;

}  // namespace ingot
