// Vector dequantization: integer codes to a buffer, then one product and one difference an element. Not a fused
// operation: the formats define two roundings.
#include "kernels/quantization/byte_rows.h"
#include "kernels/quantization/dequantize.h"
#include "kernels/vector/simd_targets.h"
#include "tensor/block_codes.h"
#include "tensor/generic_codes.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/quantization/dequantize_simd.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/vector/block_codes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <class Block>
void dequantize_row(DType dtype, const std::byte* blocks, float* y, std::int64_t length) {
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<decltype(d)> di;
  const hn::Rebind<std::int8_t, decltype(d)> d8;
  const int lanes = static_cast<int>(hn::Lanes(d));
  static_assert(hn::MaxLanes(d) <= code_group, "a vector must not span two groups");
  const BlockUnpacker<Block> unpack(dtype);
  BlockCodes codes;
  for (std::int64_t i = 0; i < length; i += Block::elements) {
    unpack(blocks, i / Block::elements, codes);
    for (int group = 0; group < Block::elements / code_group; ++group) {
      const auto scale = hn::Set(d, codes.scales[group]);
      const auto minimum = hn::Set(d, codes.minimums[group]);
      for (int j = group * code_group; j < (group + 1) * code_group; j += lanes) {
        const auto code = hn::ConvertTo(d, hn::PromoteTo(di, hn::LoadU(d8, codes.codes + j)));
        hn::StoreU(hn::Sub(hn::Mul(scale, code), minimum), d, y + i + j);
      }
    }
  }
}

void dequantize(const Dequantize::Arguments& arguments, Context& context) {
  const Rows blocks = byte_rows(arguments.blocks);
  const Rows y(arguments.y);
  const std::int64_t length = y.length();
  const DType dtype = arguments.blocks.dtype();
  const auto run_rows = [&]<class Block>() {
    context.workers.for_chunks(y.count(), rows_per_chunk(5 * length), [&](std::int64_t begin, std::int64_t end, int) {
      for (std::int64_t row = begin; row < end; ++row) {
        dequantize_row<Block>(dtype, blocks[row], y[row], length);
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
const SimdEntries<Dequantize> dequantize_simd = INGOT_SIMD_ENTRIES(dequantize);
}  // namespace ingot
#endif
