// Vector dot products of codes. Products of 8-bit codes are summed in pairs to 32 bits, exactly; a group's lanes become
// floats, times the group's scale and the block's, and lanes are added across only at the end of a row.
#include "kernels/quantization/byte_rows.h"
#include "kernels/quantization/vec_dot.h"
#include "kernels/vector/simd_targets.h"
#include "tensor/block_codes.h"
#include "tensor/generic_codes.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/quantization/vec_dot_simd.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/vector/block_codes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Sixteen codes at most, so that a vector never spans two groups.
using CodeTag = hn::CappedTag<std::int16_t, code_group>;
using SumTag = hn::RepartitionToWide<CodeTag>;
using FloatTag = hn::RebindToFloat<SumTag>;

template <int count>  // 16 or 32
HWY_INLINE hn::Vec<SumTag> dot_codes(const std::int8_t* a, const std::int8_t* b) {
  const CodeTag d;
  const SumTag d32;
  const hn::Rebind<std::int8_t, CodeTag> d8;
  auto sum0 = hn::Zero(d32);
  auto sum1 = hn::Zero(d32);
  for (int i = 0; i < count; i += static_cast<int>(hn::Lanes(d))) {
    const auto left = hn::PromoteTo(d, hn::LoadU(d8, a + i));
    const auto right = hn::PromoteTo(d, hn::LoadU(d8, b + i));
    sum0 = hn::ReorderWidenMulAccumulate(d32, left, right, sum0, sum1);
  }
  return hn::Add(sum0, sum1);
}

template <class Block>
constexpr bool subtracts_minimums =
    requires(const Block& block) { block.minimum; } || requires(const Block& block) { block.base; };

template <class Block>
float dot_row(const VecDot::Arguments& arguments, const std::byte* blocks) {
  constexpr int elements = Block::elements;
  constexpr int group = Block::group;
  const FloatTag d;
  const std::int64_t count = arguments.codes.size(0) / elements;
  const std::int8_t* activations = arguments.codes.data();
  const float* activation_scales = arguments.scales.data();
  const std::int32_t* sums = arguments.sums.data();
  auto total = hn::Zero(d);
  float subtracted = 0;
  const BlockUnpacker<Block> unpack(arguments.weights.dtype());
  BlockCodes weights;
  for (std::int64_t b = 0; b < count; ++b, activations += elements) {
    unpack(blocks, b, weights);
    auto block_total = hn::Zero(d);
    for (int i = 0; i < elements; i += group) {
      const auto products = hn::ConvertTo(d, dot_codes<group>(weights.codes + i, activations + i));
      block_total = hn::MulAdd(hn::Set(d, weights.scales[i / code_group]), products, block_total);
    }
    total = hn::MulAdd(hn::Set(d, activation_scales[b]), block_total, total);
    if constexpr (subtracts_minimums<Block>) {
      float minimums = 0;
      for (int i = 0; i < elements / code_group; ++i) {
        minimums += weights.minimums[i] * static_cast<float>(sums[b * (elements / code_group) + i]);
      }
      subtracted += activation_scales[b] * minimums;
    }
  }
  return hn::GetLane(hn::SumOfLanes(d, total)) - subtracted;
}

void vec_dot(const VecDot::Arguments& arguments, Context& context) {
  const DType dtype = arguments.weights.dtype();
  const std::int64_t bytes = row_bytes(dtype, arguments.codes.size(0));
  const auto run_rows = [&]<class Block>() {
    context.workers.for_chunks(arguments.y.size(0), rows_per_chunk(bytes),
                               [&](std::int64_t begin, std::int64_t end, int) {
                                 for (std::int64_t row = begin; row < end; ++row) {
                                   arguments.y.data()[row] = dot_row<Block>(arguments, arguments.weights.row(row));
                                 }
                               });
  };
  with_any_block_type(dtype, run_rows);
}

}  // namespace
}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot {
const SimdEntries<VecDot> vec_dot_simd = INGOT_SIMD_ENTRIES(vec_dot);
}  // namespace ingot
#endif
