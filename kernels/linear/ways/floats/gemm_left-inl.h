// The rows of the left operand as the target's tile reads them. NEON multiplies by lanes of vectors that hold
// neighbouring rows, so it packs them. The others broadcast one number at a time and read rows where they lie, unless
// they have to be converted, transposed or completed: then from a copy, row by row.
// Included by gemm_tile-inl.h, once per target.
#if defined(INGOT_KERNELS_LINEAR_WAYS_FLOATS_GEMM_LEFT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef INGOT_KERNELS_LINEAR_WAYS_FLOATS_GEMM_LEFT_INL_H_
#undef INGOT_KERNELS_LINEAR_WAYS_FLOATS_GEMM_LEFT_INL_H_
#else
#define INGOT_KERNELS_LINEAR_WAYS_FLOATS_GEMM_LEFT_INL_H_
#endif

#include <algorithm>
#include <utility>

#include "hwy/highway.h"
#include "kernels/linear/ways/floats/gemm_pack-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {

// Rows of a tile, and rows that it adds at a time where there are fewer: its height is a multiple of `tile_part`.
#if HWY_TARGET == HWY_NEON
inline constexpr int tile_rows = 12, tile_part = 4;
#elif HWY_TARGET == HWY_SSE4
inline constexpr int tile_rows = 6, tile_part = 2;
#elif HWY_TARGET == HWY_AVX2
inline constexpr int tile_rows = 4, tile_part = 2;
#else
inline constexpr int tile_rows = 8, tile_part = 4;
#endif

#if HWY_TARGET == HWY_NEON
// Panels [depth][tile rows].
struct TileLeft {
  const float* panels;
};
HWY_INLINE TileLeft skip_steps(TileLeft left, std::int64_t steps) { return {left.panels + steps * tile_rows}; }
// `rows` are whole panels.
HWY_INLINE TileLeft skip_rows(TileLeft left, std::int64_t rows, std::int64_t depth) {
  return {left.panels + rows * depth};
}

// `copy` has room for whole panels.
inline TileLeft read_left(const GemmOperand& operand, const PackBlock& block, float* copy) {
  pack(operand, block, tile_rows, copy);
  return {copy};
}
#else
struct TileLeft {
  const float* rows;    // of neighbours along the depth,
  std::int64_t stride;  // so many floats apart
};
HWY_INLINE TileLeft skip_steps(TileLeft left, std::int64_t steps) { return {left.rows + steps, left.stride}; }
HWY_INLINE TileLeft skip_rows(TileLeft left, std::int64_t rows, std::int64_t /*depth*/) {
  return {left.rows + rows * left.stride, left.stride};
}

// `copy` has room for whole tiles.
inline TileLeft read_left(const GemmOperand& operand, const PackBlock& block, float* copy) {
  if (operand.dtype == DType::f32 && operand.packed == PackedAxis::depth && block.width % tile_part == 0) {
    constexpr auto element = static_cast<std::int64_t>(sizeof(float));
    const std::byte* rows = operand.data + block.width_begin * operand.width_stride + block.depth_begin * element;
    return {reinterpret_cast<const float*>(rows), operand.width_stride / element};
  }
  // A panel as wide as the operand is deep, of the operand with its axes exchanged.
  GemmOperand exchanged = operand;
  std::swap(exchanged.width_stride, exchanged.depth_stride);
  if (operand.packed != PackedAxis::neither) {
    exchanged.packed = operand.packed == PackedAxis::depth ? PackedAxis::width : PackedAxis::depth;
  }
  const std::int64_t stride = divide_rounding_up(block.depth, 16) * 16;
  pack(exchanged, {block.depth_begin, block.depth, block.width_begin, block.width}, stride, copy);
  // Rows that the last part of a tile lacks: what they give is not stored.
  const std::int64_t padded = divide_rounding_up(block.width, tile_part) * tile_part;
  std::fill(copy + block.width * stride, copy + padded * stride, 0.0f);
  return {copy, stride};
}
#endif

// Called with every tile of a task, `index` counting them: brings a cache line of each of the rows that follow these
// nearer. Worth it with AVX2 where rows come from memory (1024 cubed 3 % faster, 2048 cubed 5 %, smaller products
// alike); with AVX-512 it cost up to 3 %.
HWY_INLINE void prefetch_next_rows([[maybe_unused]] TileLeft left, [[maybe_unused]] std::int64_t index,
                                   [[maybe_unused]] std::int64_t depth) {
#if HWY_TARGET == HWY_AVX2
  constexpr std::int64_t line = 64 / sizeof(float);
  if (index * line >= depth) return;
  const float* next = left.rows + tile_rows * left.stride + index * line;
  for (int row = 0; row < tile_rows; ++row) __builtin_prefetch(next + row * left.stride, 0, 2);
#endif
}

}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggling guard
