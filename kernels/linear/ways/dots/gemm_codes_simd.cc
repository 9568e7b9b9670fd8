// Few rows of activations and weights in a block format: activations become 8-bit codes once, then every block of
// weights is unpacked to codes once for all rows, and groups of 16 or 32 are summed in integers, which is exact.
#include "kernels/linear/ways/floats/gemm.h"
#include "kernels/vector/activation_codes.h"
#include "kernels/vector/simd_targets.h"
#include "tensor/block_codes.h"
#include "tensor/generic_codes.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/linear/ways/dots/gemm_codes_simd.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/vector/activation_codes-inl.h"
#include "kernels/vector/block_codes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

float encode_block(const float* x, int block, std::int8_t* codes, std::int32_t* sums) {
  return encode_activations_vector(x, block, codes, sums);
}

// Activations of all rows, as codes, their sums in groups of 16, and a scale a block.
struct CodedRows {
  std::int64_t rows;
  std::int64_t depth;
  int block;
  float* scales;       // [rows][depth / block]
  std::int32_t* sums;  // [rows][depth / 16]
  std::int8_t* codes;  // [rows][depth]

  // Where encode() puts them.
  CodedRows(const Gemm& gemm, std::byte* scratch)
      : rows(gemm.rows),
        depth(gemm.depth),
        block(block_elements(gemm.right.dtype)),
        scales(reinterpret_cast<float*>(scratch)),
        sums(reinterpret_cast<std::int32_t*>(scales + rows * (depth / block))),
        codes(reinterpret_cast<std::int8_t*>(sums + rows * (depth / code_group))) {}

  void encode(const Gemm& gemm) const {
    for (std::int64_t row = 0; row < rows; ++row) {
      const BlockReader x(gemm.coded, gemm.left.data, gemm.left.width_stride, row, encode_block);
      for (std::int64_t begin = 0; begin < depth; begin += block) {
        const std::int64_t at = row * depth + begin;
        scales[at / block] = x.read(begin, block, codes + at, sums + at / code_group);
      }
    }
  }
};

// A vector holds codes of one group only, and no more than were stored at once: a load that spans two stores waits for
// both to leave the store buffer.
template <class Block>
using CodeTag = hn::CappedTag<std::int16_t, (Block::elements == 32 ? 16 : Block::group)>;
template <class Block>
using SumTag = hn::RebindToFloat<hn::RepartitionToWide<CodeTag<Block>>>;

// sum_g scale[g] sum_{i in g} weights.codes[i] codes[i], spread over the lanes of the result. Integer sums of a group
// stay below 2^24, so they are exact as floats too.
template <class Block>
HWY_INLINE hn::Vec<SumTag<Block>> multiply_block(const BlockCodes& weights, const std::int8_t* codes) {
  const CodeTag<Block> words;
  const hn::RepartitionToWide<CodeTag<Block>> integers;
  const SumTag<Block> floats;
  const hn::Rebind<std::int8_t, CodeTag<Block>> bytes;
  auto sum = hn::Zero(floats);
  for (int begin = 0; begin < Block::elements; begin += Block::group) {
    auto first = hn::Zero(integers);
    auto second = hn::Zero(integers);
    for (int i = begin; i < begin + Block::group; i += static_cast<int>(hn::Lanes(words))) {
      const auto weight = hn::PromoteTo(words, hn::LoadU(bytes, weights.codes + i));
      const auto code = hn::PromoteTo(words, hn::LoadU(bytes, codes + i));
      first = hn::ReorderWidenMulAccumulate(integers, weight, code, first, second);
    }
    const auto total = hn::ConvertTo(floats, hn::Add(first, second));
    sum = hn::MulAdd(total, hn::Set(floats, weights.scales[begin / code_group]), sum);
  }
  return sum;
}

// sum_g minimum[g] sum_{i in g} codes[i]
template <class Block>
HWY_INLINE float multiply_minimums(const BlockCodes& weights, const std::int32_t* sums) {
  float total = 0;
  constexpr int step = Block::group / code_group;
  for (int group = 0; group < Block::elements / code_group; group += step) {
    total += weights.minimums[group] * static_cast<float>(sums[group] + (step == 2 ? sums[group + 1] : 0));
  }
  return total;
}

template <class Block>
void multiply_columns(const Gemm& gemm, const CodedRows& x, std::int64_t column_begin, std::int64_t column_end) {
  const SumTag<Block> floats;
  const std::int64_t blocks = x.depth / Block::elements;
  const bool minimums = has_minimums(gemm.right.dtype);
  const BlockUnpacker<Block> unpack(gemm.right.dtype);
  BlockCodes weights;
  for (std::int64_t column = column_begin; column < column_end; ++column) {
    const std::byte* row_blocks = gemm.right.data + column * gemm.right.width_stride;
    const auto zero = hn::Zero(floats);
    hn::Vec<SumTag<Block>> sums[dot_rows] = {zero, zero, zero, zero};
    float subtracted[dot_rows] = {};
    for (std::int64_t b = 0; b < blocks; ++b) {
      unpack(row_blocks, b, weights);
      for (std::int64_t row = 0; row < x.rows; ++row) {
        const std::int64_t at = row * blocks + b;
        const auto product = multiply_block<Block>(weights, x.codes + at * Block::elements);
        sums[row] = hn::MulAdd(product, hn::Set(floats, x.scales[at]), sums[row]);
        if (!minimums) continue;
        subtracted[row] +=
            x.scales[at] * multiply_minimums<Block>(weights, x.sums + at * (Block::elements / code_group));
      }
    }
    for (std::int64_t row = 0; row < x.rows; ++row) {
      const float sum = hn::GetLane(hn::SumOfLanes(floats, sums[row])) - subtracted[row];
      gemm.out[row * gemm.out_stride + column] = sum + (gemm.bias == nullptr ? 0.0f : gemm.bias[column]);
    }
  }
}

void unpack_blocks(DType dtype, const std::byte* blocks, std::int64_t count, std::int8_t* codes) {
  with_block_type(dtype, [&]<class Block>() {
    for (std::int64_t b = 0; b < count; ++b) {
      unpack_codes_vector(reinterpret_cast<const Block*>(blocks)[b], codes + b * Block::elements);
    }
  });
}

void encode(const Gemm& gemm, std::byte* coded) { CodedRows(gemm, coded).encode(gemm); }

void columns(const Gemm& gemm, const std::byte* coded, std::int64_t begin, std::int64_t end) {
  const CodedRows x(gemm, const_cast<std::byte*>(coded));  // only read
  with_any_block_type(gemm.right.dtype, [&]<class Block>() { multiply_columns<Block>(gemm, x, begin, end); });
}

// Unpacking costs several times what streaming the bytes does, so a chunk is smaller than the usual one.
constexpr DotProduct product = {encode, columns, 16 << 10};

}  // namespace
}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot {
const PerTarget<const DotProduct*> gemm_codes = INGOT_SIMD_ENTRIES(product);
const PerTarget<EncodeFunction> encode_activation_block = INGOT_SIMD_ENTRIES(encode_block);
const PerTarget<UnpackFunction> unpack_block_codes = INGOT_SIMD_ENTRIES(unpack_blocks);
}  // namespace ingot
#endif
