// Few rows of activations and weights in bf16, by BFDOT: pairs of bf16 numbers into a lane of f32. The contract rounds
// activations to bf16, so they are kept as such: a third of the instructions and half the loads of x that products
// in f32 take, and what is left bounds the loop by memory.
//
// With one row of x, rows of weights are read one after the other: a single stream, which hardware prefetching follows
// best (as fast as reading alone; eight streams reach nine tenths of it). BFDOT takes 5 cycles and two to four start
// each cycle: eight sums keep up with 26 GB/s a core, and more rows of x have them from several columns.
#include "kernels/linear/gemm.h"

#if defined(__aarch64__)
#include <arm_neon.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "hwy/base.h"
#include "tensor/half.h"

HWY_PUSH_ATTRIBUTES("arch=armv8.2-a+bf16")

namespace ingot {
namespace {

constexpr std::int64_t step = 8;  // numbers of a vector

// Rows of x lie behind each other, each padded with zeros to whole vectors.
std::int64_t padded(std::int64_t depth) { return (depth + step - 1) / step * step; }

void round_rows(const Gemm& gemm, std::byte* rounded) {
  auto* to = reinterpret_cast<std::uint16_t*>(rounded);
  for (std::int64_t row = 0; row < gemm.rows; ++row, to += padded(gemm.depth)) {
    const auto* x = reinterpret_cast<const float*>(gemm.left.data + row * gemm.left.width_stride);
    std::int64_t k = 0;
    for (; k + 4 <= gemm.depth; k += 4) {
      vst1_u16(to + k, vreinterpret_u16_bf16(vcvt_bf16_f32(vld1q_f32(x + k))));
    }
    for (; k < gemm.depth; ++k) to[k] = BFloat16(x[k]).bits;
    for (; k < padded(gemm.depth); ++k) to[k] = 0;
  }
}

HWY_INLINE bfloat16x8_t load(const std::uint16_t* from) { return vreinterpretq_bf16_u16(vld1q_u16(from)); }

// Sums are numbered by row of x, then column, then vector of a stride: `unroll` vectors of each column go together.
template <int rows, int columns, int unroll, std::size_t... i>
HWY_INLINE void dot_tile(const std::uint16_t* const (&x)[rows], const std::uint16_t* const (&weights)[columns],
                         std::int64_t depth, float (&results)[rows * columns], std::index_sequence<i...>) {
  float32x4_t sums[] = {(static_cast<void>(i), vdupq_n_f32(0))...};
  constexpr auto column = [](std::size_t index) { return index / rows % columns; };
  constexpr auto vector = [](std::size_t index) { return static_cast<std::int64_t>(index / (rows * columns)) * step; };
  std::int64_t k = 0;
  for (; k + unroll * step <= depth; k += unroll * step) {
    ((sums[i] = vbfdotq_f32(sums[i], load(weights[column(i)] + k + vector(i)), load(x[i % rows] + k + vector(i)))),
     ...);
  }
  for (; k + step <= depth; k += step) {
    ((sums[i] =
          i < rows * columns ? vbfdotq_f32(sums[i], load(weights[column(i)] + k), load(x[i % rows] + k)) : sums[i]),
     ...);
  }
  if (k < depth) {
    std::uint16_t last[columns][step] = {};
    for (int j = 0; j < columns; ++j) {
      std::memcpy(last[j], weights[j] + k, static_cast<std::size_t>(depth - k) * sizeof(std::uint16_t));
    }
    ((sums[i] = i < rows * columns ? vbfdotq_f32(sums[i], load(last[column(i)]), load(x[i % rows] + k)) : sums[i]),
     ...);
  }
  for (float& result : results) result = 0;
  ((results[i % (rows * columns)] += vaddvq_f32(sums[i])), ...);
}

template <int rows>
inline constexpr int columns_at_once = rows == 1 ? 1 : 4;
template <int rows>
inline constexpr int vectors_at_once = rows == 1   ? 8
                                       : rows == 2 ? 2
                                                   : 1;

// Columns past the end repeat the last one and are not stored.
template <int rows>
void dot_columns(const Gemm& gemm, const std::byte* rounded, std::int64_t begin, std::int64_t end) {
  constexpr int columns = columns_at_once<rows>;
  const std::uint16_t* x[rows];
  for (int i = 0; i < rows; ++i) x[i] = reinterpret_cast<const std::uint16_t*>(rounded) + i * padded(gemm.depth);
  for (std::int64_t column = begin; column < end; column += columns) {
    const std::uint16_t* weights[columns];
    for (int j = 0; j < columns; ++j) {
      weights[j] = reinterpret_cast<const std::uint16_t*>(gemm.right.data +
                                                          std::min(column + j, end - 1) * gemm.right.width_stride);
    }
    float results[rows * columns];
    dot_tile<rows, columns, vectors_at_once<rows>>(x, weights, gemm.depth, results,
                                                   std::make_index_sequence<rows * columns * vectors_at_once<rows>>());
    for (std::int64_t j = 0; j < std::min<std::int64_t>(columns, end - column); ++j) {
      const float bias = gemm.bias == nullptr ? 0.0f : gemm.bias[column + j];
      for (int i = 0; i < rows; ++i) gemm.out[i * gemm.out_stride + column + j] = results[j * rows + i] + bias;
    }
  }
}

void columns(const Gemm& gemm, const std::byte* rounded, std::int64_t begin, std::int64_t end) {
  switch (gemm.rows) {
    case 1: return dot_columns<1>(gemm, rounded, begin, end);
    case 2: return dot_columns<2>(gemm, rounded, begin, end);
    case 3: return dot_columns<3>(gemm, rounded, begin, end);
    default: return dot_columns<4>(gemm, rounded, begin, end);
  }
}

constexpr DotProduct product = {round_rows, columns};

}  // namespace

const DotProduct* const gemm_dot_neon_bf16 = &product;

}  // namespace ingot

HWY_POP_ATTRIBUTES

#else

namespace ingot {
const DotProduct* const gemm_dot_neon_bf16 = nullptr;
}  // namespace ingot

#endif
