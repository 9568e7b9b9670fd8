// Vector encoders of q8_0 and q4_0, operation by operation what tensor/block_encode_32.cc does.
#include <cmath>

#include "kernels/quantization/byte_rows.h"
#include "kernels/quantization/quantize.h"
#include "kernels/vector/simd_targets.h"
#include "tensor/block_formats.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/quantization/quantize_simd.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr int block_size = 32;
using FloatTag = hn::ScalableTag<float>;
using IntegerTag = hn::RebindToSigned<FloatTag>;

HWY_INLINE hn::Vec<FloatTag> without_nan(hn::Vec<FloatTag> value) {
  return hn::IfThenElse(hn::IsNaN(value), hn::Zero(FloatTag()), value);
}

struct Extremes {
  float lowest, highest;  // of zero and the values that are not NaN
};

HWY_INLINE Extremes extremes_of(const float* x) {
  const FloatTag d;
  auto lowest = hn::Zero(d);
  auto highest = hn::Zero(d);
  for (int j = 0; j < block_size; j += static_cast<int>(hn::Lanes(d))) {
    const auto value = without_nan(hn::LoadU(d, x + j));
    lowest = hn::Min(lowest, value);
    highest = hn::Max(highest, value);
  }
  return {hn::GetLane(hn::MinOfLanes(d, lowest)), hn::GetLane(hn::MaxOfLanes(d, highest))};
}

HWY_INLINE float inverse_or_zero(float scale) { return scale != 0 ? 1.0f / scale : 0.0f; }

void encode(const float* x, BlockQ8_0& block) {
  const FloatTag d;
  const IntegerTag di;
  const hn::Rebind<std::int8_t, FloatTag> d8;
  const Extremes extremes = extremes_of(x);
  const float scale = (-extremes.lowest > extremes.highest ? -extremes.lowest : extremes.highest) / 127;
  block.scale.set(std::fabs(scale));
  const auto inverse = hn::Set(d, inverse_or_zero(scale));
  for (int j = 0; j < block_size; j += static_cast<int>(hn::Lanes(d))) {
    const auto scaled = without_nan(hn::Mul(hn::LoadU(d, x + j), inverse));
    const auto magnitude = hn::Min(hn::Abs(scaled), hn::Set(d, 127.0f));
    // Half away from zero: the fraction decides, because adding one half before cutting off would itself round.
    const auto whole = hn::ConvertTo(di, magnitude);
    const auto fraction = hn::Sub(magnitude, hn::ConvertTo(d, whole));
    const auto up = hn::RebindMask(di, hn::Ge(fraction, hn::Set(d, 0.5f)));
    const auto rounded = hn::Add(whole, hn::IfThenElseZero(up, hn::Set(di, 1)));
    const auto negative = hn::RebindMask(di, hn::Lt(scaled, hn::Zero(d)));
    hn::StoreU(hn::DemoteTo(d8, hn::IfThenElse(negative, hn::Neg(rounded), rounded)), d8, block.codes + j);
  }
}

// The value of largest magnitude, the first of equals.
float signed_extreme(const float* x, Extremes extremes) {
  if (extremes.highest > -extremes.lowest) return extremes.highest;
  if (extremes.highest < -extremes.lowest) return extremes.lowest;
  if (extremes.highest == 0) return 0;
  for (int j = 0; j < block_size; ++j) {
    if (std::fabs(x[j]) == extremes.highest) return x[j];
  }
  return 0;
}

void encode(const float* x, BlockQ4_0& block) {
  const FloatTag d;
  const IntegerTag di;
  const hn::Rebind<std::uint8_t, FloatTag> d8;
  const hn::FixedTag<std::uint8_t, 16> d16;
  const float scale = signed_extreme(x, extremes_of(x)) / -8;
  block.scale.set(scale);
  const auto inverse = hn::Set(d, inverse_or_zero(scale));
  alignas(16) std::uint8_t codes[block_size];
  for (int j = 0; j < block_size; j += static_cast<int>(hn::Lanes(d))) {
    const auto shifted = without_nan(hn::Add(hn::Mul(hn::LoadU(d, x + j), inverse), hn::Set(d, 8.5f)));
    const auto bounded = hn::Max(hn::Min(shifted, hn::Set(d, 15.0f)), hn::Zero(d));
    hn::StoreU(hn::DemoteTo(d8, hn::ConvertTo(di, bounded)), d8, codes + j);
  }
  hn::StoreU(hn::Or(hn::Load(d16, codes), hn::ShiftLeft<4>(hn::Load(d16, codes + 16))), d16, block.low);
}

template <class Block>
void quantize_rows(const Quantize::Arguments& arguments, Context& context) {
  const Rows x(arguments.x);
  const Rows blocks = byte_rows(arguments.blocks);
  const std::int64_t count = x.length() / block_size;
  context.workers.for_chunks(x.count(), rows_per_chunk(5 * x.length()), [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t row = begin; row < end; ++row) {
      auto* out = reinterpret_cast<Block*>(blocks[row]);
      for (std::int64_t b = 0; b < count; ++b) encode(x[row] + b * block_size, out[b]);
    }
  });
}

void quantize(const Quantize::Arguments& arguments, Context& context) {
  if (arguments.blocks.dtype() == DType::q8_0) return quantize_rows<BlockQ8_0>(arguments, context);
  quantize_rows<BlockQ4_0>(arguments, context);
}

}  // namespace
}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot {
const SimdEntries<Quantize> quantize_simd = INGOT_SIMD_ENTRIES(quantize);

bool quantize_simd_accepts(const Quantize::Arguments& arguments) {
  return arguments.blocks.dtype() == DType::q8_0 || arguments.blocks.dtype() == DType::q4_0;
}
}  // namespace ingot
#endif
