// Packing: copies a block of an operand into panels [depth][panel width] of floats, padding the last panel with zeros.
// Included inside gemm_simd.cc after hwy/highway.h, once per target.
#if defined(INGOT_KERNELS_LINEAR_WAYS_FLOATS_GEMM_PACK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef INGOT_KERNELS_LINEAR_WAYS_FLOATS_GEMM_PACK_INL_H_
#undef INGOT_KERNELS_LINEAR_WAYS_FLOATS_GEMM_PACK_INL_H_
#else
#define INGOT_KERNELS_LINEAR_WAYS_FLOATS_GEMM_PACK_INL_H_
#endif

#include <algorithm>

#include "hwy/cache_control.h"
#include "hwy/highway.h"
#include "kernels/vector/block_codes-inl.h"
#include "kernels/vector/convert-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class Block>
void decode_blocks(DType dtype, const std::byte* data, float* to, std::int64_t count) {
  const hn::CappedTag<float, code_group> d;  // a vector never spans two groups
  const hn::Rebind<std::int32_t, decltype(d)> integers;
  const hn::Rebind<std::int8_t, decltype(d)> bytes;
  const auto lanes = static_cast<int>(hn::Lanes(d));
  const BlockUnpacker<Block> unpack(dtype);
  BlockCodes block;
  for (std::int64_t begin = 0; begin < count; begin += Block::elements) {
    unpack(data, begin / Block::elements, block);
    for (int i = 0; i < Block::elements; i += lanes) {
      const auto codes = hn::ConvertTo(d, hn::PromoteTo(integers, hn::LoadU(bytes, block.codes + i)));
      const auto scale = hn::Set(d, block.scales[i / code_group]);
      const auto minimum = hn::Set(d, block.minimums[i / code_group]);
      hn::StoreU(hn::Sub(hn::Mul(scale, codes), minimum), d, to + begin + i);
    }
  }
}

// `count` numbers from `data` on as floats: where they lie if that is what they are, else converted into `buffer`.
inline const float* as_floats(DType dtype, const std::byte* data, std::int64_t count, float* buffer) {
  switch (dtype) {
    case DType::f32: return reinterpret_cast<const float*>(data);
    case DType::f16: convert_stretch(reinterpret_cast<const Half*>(data), buffer, count); return buffer;
    case DType::bf16: convert_stretch(reinterpret_cast<const BFloat16*>(data), buffer, count); return buffer;
    default:
      with_any_block_type(dtype, [&]<class Block>() { decode_blocks<Block>(dtype, data, buffer, count); });
      return buffer;
  }
}

// Steps of the depth that are packed together: a cache line of floats.
inline constexpr std::int64_t pack_steps = 16;

// What is packed: `width` numbers from `width_begin` on, by `depth` from `depth_begin` on.
struct PackBlock {
  std::int64_t width_begin;
  std::int64_t width;
  std::int64_t depth_begin;
  std::int64_t depth;
};

// Rows become columns of a panel by transposing four steps of the depth of as many rows as a vector has lanes: scalar
// stores would cost one instruction a number. A vector holds four steps of every fourth row; each group of four lanes
// is transposed by itself, and a step's numbers come out together.
inline constexpr int pack_lanes = HWY_MAX_BYTES / sizeof(float);
HWY_INLINE auto load_every_fourth(hn::FixedTag<float, 4> d, const float* const* rows, std::int64_t k) {
  return hn::LoadU(d, rows[0] + k);
}
#if HWY_MAX_BYTES >= 32
HWY_INLINE auto load_every_fourth(hn::FixedTag<float, 8> d, const float* const* rows, std::int64_t k) {
  const hn::FixedTag<float, 4> half;
  return hn::Combine(d, load_every_fourth(half, rows + 4, k), load_every_fourth(half, rows, k));
}
#endif
#if HWY_MAX_BYTES >= 64
HWY_INLINE auto load_every_fourth(hn::FixedTag<float, 16> d, const float* const* rows, std::int64_t k) {
  const hn::FixedTag<float, 8> half;
  return hn::Combine(d, load_every_fourth(half, rows + 8, k), load_every_fourth(half, rows, k));
}
#endif

// Steps [begin, end) of `count` rows; their number divides by four.
template <int count>
HWY_INLINE void transpose_steps(const float* const* rows, std::int64_t begin, std::int64_t end,
                                std::int64_t panel_width, float* panel) {
  const hn::FixedTag<float, count> d;
  const hn::FixedTag<double, count / 2> pairs;
  for (int row = 0; row < count; ++row) hwy::Prefetch(rows[row] + begin + 2 * pack_steps);
  for (std::int64_t k = begin; k < end; k += 4) {
    const auto row0 = load_every_fourth(d, rows, k);
    const auto row1 = load_every_fourth(d, rows + 1, k);
    const auto row2 = load_every_fourth(d, rows + 2, k);
    const auto row3 = load_every_fourth(d, rows + 3, k);
    const auto low01 = hn::BitCast(pairs, hn::InterleaveLower(d, row0, row1));
    const auto low23 = hn::BitCast(pairs, hn::InterleaveLower(d, row2, row3));
    const auto high01 = hn::BitCast(pairs, hn::InterleaveUpper(d, row0, row1));
    const auto high23 = hn::BitCast(pairs, hn::InterleaveUpper(d, row2, row3));
    float* out = panel + k * panel_width;
    hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, low01, low23)), d, out);
    hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, low01, low23)), d, out + panel_width);
    hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, high01, high23)), d, out + 2 * panel_width);
    hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, high01, high23)), d, out + 3 * panel_width);
  }
}

// A cache line of each row at a time: all of a line is read while it is in the first-level cache, however far apart the
// rows lie, and the lines of the panel are written whole.
inline void transpose_rows(const float* const* rows, std::int64_t count, std::int64_t depth, std::int64_t panel_width,
                           float* panel) {
  const std::int64_t whole = depth / 4 * 4;
  for (std::int64_t begin = 0; begin < whole; begin += pack_steps) {
    const std::int64_t end = std::min(begin + pack_steps, whole);
    std::int64_t row = 0;
    for (; row + pack_lanes <= count; row += pack_lanes) {
      transpose_steps<pack_lanes>(rows + row, begin, end, panel_width, panel + row);
    }
#if HWY_MAX_BYTES >= 64
    for (; row + 8 <= count; row += 8) transpose_steps<8>(rows + row, begin, end, panel_width, panel + row);
#endif
    // In a panel of six the second four rows overlap the first: two rows are stored again with the same numbers.
    for (; row < count; row += 4) {
      const std::int64_t first = std::min(row, count - 4);
      transpose_steps<4>(rows + first, begin, end, panel_width, panel + first);
    }
  }
  for (std::int64_t k = whole; k < depth; ++k) {
    for (std::int64_t row = 0; row < count; ++row) panel[k * panel_width + row] = rows[row][k];
  }
}

// Numbers are neighbours along the depth. Rows that are not float are converted into a buffer first, some at a time.
// A panel's width is the tile's, or divides by 16.
inline void pack_from_depth(const GemmOperand& operand, const PackBlock& block, std::int64_t panel_width,
                            float* panels) {
  constexpr std::int64_t most_converted = 16, widest = 48;
  alignas(64) float converted[most_converted][gemm_depth_block];
  alignas(64) static constexpr float zeros[gemm_depth_block] = {};
  const std::int64_t skip = row_bytes(operand.dtype, block.depth_begin);
  const std::int64_t most = operand.dtype == DType::f32 ? widest : most_converted;
  const std::int64_t together = panel_width <= most ? panel_width : std::int64_t{pack_lanes};
  for (std::int64_t begin = 0; begin < block.width; begin += panel_width) {
    for (std::int64_t first = 0; first < panel_width; first += together) {
      const float* rows[widest];
      for (std::int64_t row = 0; row < together; ++row) {
        const std::int64_t index = begin + first + row;
        if (index >= block.width) {
          rows[row] = zeros;
          continue;
        }
        const std::byte* data = operand.data + (block.width_begin + index) * operand.width_stride + skip;
        rows[row] = operand.dtype == DType::f32 ? reinterpret_cast<const float*>(data)
                                                : as_floats(operand.dtype, data, block.depth, converted[row]);
      }
      transpose_rows(rows, together, block.depth, panel_width, panels + begin * block.depth + first);
    }
  }
}

// A slice of a row, at least four wide and narrower than a vector on some targets: by fours, the last of which may
// overlap the one before it.
HWY_INLINE void copy_slice(const float* from, std::int64_t width, float* to) {
  const hn::FixedTag<float, 4> d;
  for (std::int64_t i = 0; i + 4 < width; i += 4) hn::StoreU(hn::LoadU(d, from + i), d, to + i);
  hn::StoreU(hn::LoadU(d, from + width - 4), d, to + width - 4);
}

// Numbers are neighbours along the width: panels take slices of each row.
inline void pack_from_width(const GemmOperand& operand, const PackBlock& block, std::int64_t panel_width,
                            float* panels) {
  alignas(64) float converted[gemm_most_packed_columns];
  const std::int64_t skip = row_bytes(operand.dtype, block.width_begin);
  for (std::int64_t k = 0; k < block.depth; ++k) {
    const std::byte* data = operand.data + (block.depth_begin + k) * operand.depth_stride + skip;
    const float* row = as_floats(operand.dtype, data, block.width, converted);
    std::int64_t begin = 0;
    for (; begin + panel_width <= block.width; begin += panel_width) {
      copy_slice(row + begin, panel_width, panels + begin * block.depth + k * panel_width);
    }
    if (begin == block.width) continue;
    float* out = panels + begin * block.depth + k * panel_width;
    float* end = std::copy(row + begin, row + block.width, out);
    std::fill(end, out + panel_width, 0.0f);
  }
}

// Floats that are neighbours along neither axis.
inline void pack_strided(const GemmOperand& operand, const PackBlock& block, std::int64_t panel_width, float* panels) {
  for (std::int64_t begin = 0; begin < block.width; begin += panel_width) {
    float* panel = panels + begin * block.depth;
    for (std::int64_t k = 0; k < block.depth; ++k) {
      const std::byte* data = operand.data + (block.depth_begin + k) * operand.depth_stride;
      for (std::int64_t column = 0; column < panel_width; ++column) {
        const std::int64_t index = begin + column;
        panel[k * panel_width + column] =
            index < block.width
                ? *reinterpret_cast<const float*>(data + (block.width_begin + index) * operand.width_stride)
                : 0.0f;
      }
    }
  }
}

// Preconditions: block.depth <= gemm_depth_block, block.width <= gemm_most_packed_columns; where numbers are converted,
// the block begins and ends at block bounds of the format.
inline void pack(const GemmOperand& operand, const PackBlock& block, std::int64_t panel_width, float* panels) {
  if (block.depth == 0 || block.width == 0) return;
  switch (operand.packed) {
    case PackedAxis::depth: return pack_from_depth(operand, block, panel_width, panels);
    case PackedAxis::width: return pack_from_width(operand, block, panel_width, panels);
    case PackedAxis::neither: return pack_strided(operand, block, panel_width, panels);
  }
}

}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggling guard
