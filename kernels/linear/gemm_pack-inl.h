// Packing: copies a block of an operand into panels [depth][panel width] of floats, padding the last panel with zeros.
// Included inside gemm_simd.cc after hwy/highway.h, once per target.
#if defined(INGOT_KERNELS_LINEAR_GEMM_PACK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef INGOT_KERNELS_LINEAR_GEMM_PACK_INL_H_
#undef INGOT_KERNELS_LINEAR_GEMM_PACK_INL_H_
#else
#define INGOT_KERNELS_LINEAR_GEMM_PACK_INL_H_
#endif

#include "hwy/highway.h"
#include "kernels/contract/convert-inl.h"
#include "kernels/quantization/block_codes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class Block>
void decode_blocks(const std::byte* data, float* to, std::int64_t count) {
  const hn::CappedTag<float, code_group> d;  // a vector never spans two groups
  const hn::Rebind<std::int32_t, decltype(d)> integers;
  const hn::Rebind<std::int8_t, decltype(d)> bytes;
  const auto lanes = static_cast<int>(hn::Lanes(d));
  BlockCodes block;
  for (std::int64_t begin = 0; begin < count; begin += Block::elements, data += sizeof(Block)) {
    unpack_block_vector(*reinterpret_cast<const Block*>(data), block);
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
    case DType::f16: convert_run(reinterpret_cast<const Half*>(data), buffer, count); return buffer;
    case DType::bf16: convert_run(reinterpret_cast<const BFloat16*>(data), buffer, count); return buffer;
    default: with_block_type(dtype, [&]<class Block>() { decode_blocks<Block>(data, buffer, count); }); return buffer;
  }
}

// What is packed: `width` numbers from `width_begin` on, by `depth` from `depth_begin` on.
struct PackBlock {
  std::int64_t width_begin;
  std::int64_t width;
  std::int64_t depth_begin;
  std::int64_t depth;
};

// Four rows become four columns of a panel, four by four numbers at a time, because scalar stores would cost one
// instruction a number. Four-lane vectors: the transpose of wider ones stores in pieces of four anyway.
HWY_INLINE void transpose_four_rows(const float* const (&rows)[4], std::int64_t depth, std::int64_t panel_width,
                                    float* panel) {
  const hn::FixedTag<float, 4> d;
  const hn::FixedTag<double, 2> pairs;
  std::int64_t k = 0;
  for (; k + 4 <= depth; k += 4) {
    const auto row0 = hn::LoadU(d, rows[0] + k);
    const auto row1 = hn::LoadU(d, rows[1] + k);
    const auto row2 = hn::LoadU(d, rows[2] + k);
    const auto row3 = hn::LoadU(d, rows[3] + k);
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
  for (; k < depth; ++k) {
    for (int row = 0; row < 4; ++row) panel[k * panel_width + row] = rows[row][k];
  }
}

// Numbers are neighbours along the depth. Rows that are not float are converted into a buffer first.
inline void pack_from_depth(const GemmOperand& operand, const PackBlock& block, std::int64_t panel_width,
                            float* panels) {
  alignas(64) float converted[4][gemm_depth_block];
  alignas(64) static constexpr float zeros[gemm_depth_block] = {};
  const std::int64_t skip = row_bytes(operand.dtype, block.depth_begin);
  for (std::int64_t begin = 0; begin < block.width; begin += panel_width) {
    float* panel = panels + begin * block.depth;
    for (std::int64_t group = 0; group < panel_width; group += 4) {
      // In a panel of six the second four rows overlap the first: two rows are stored again with the same numbers.
      const std::int64_t first = std::min(group, panel_width - 4);
      const float* rows[4];
      for (int row = 0; row < 4; ++row) {
        const std::int64_t index = begin + first + row;
        if (index >= block.width) {
          rows[row] = zeros;
          continue;
        }
        const std::byte* data = operand.data + (block.width_begin + index) * operand.width_stride + skip;
        rows[row] = as_floats(operand.dtype, data, block.depth, converted[row]);
      }
      transpose_four_rows(rows, block.depth, panel_width, panel + first);
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
  alignas(64) float converted[gemm_task_columns];
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
    for (std::int64_t column = 0; column < panel_width; ++column) {
      out[column] = begin + column < block.width ? row[begin + column] : 0.0f;
    }
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

// Preconditions: block.depth <= gemm_depth_block, block.width <= gemm_task_columns; where numbers are converted, the
// block begins and ends at block bounds of the format.
inline void pack(const GemmOperand& operand, const PackBlock& block, std::int64_t panel_width, float* panels) {
  if (block.depth == 0) return;
  switch (operand.packed) {
    case PackedAxis::depth: return pack_from_depth(operand, block, panel_width, panels);
    case PackedAxis::width: return pack_from_width(operand, block, panel_width, panels);
    case PackedAxis::neither: return pack_strided(operand, block, panel_width, panels);
  }
}

}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggling guard
