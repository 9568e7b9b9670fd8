// Two shapes of loop: stretches of one channel where the channel axis is not the last, scales in vectors where it is.
#include "kernels/quantization/affine_codes.h"
#include "kernels/quantization/per_channel.h"
#include "kernels/vector/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/quantization/per_channel_simd.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/quantization/affine_codes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// The zero points of channels i to i + Lanes(d); zeros where there are none.
template <class Code, class D>
HWY_INLINE auto load_zero_points(D, const ConstAnyView& zero_points, std::int64_t i) {
  const hn::RebindToSigned<D> di;
  const hn::Rebind<Code, D> d8;
  if (!is_present(zero_points)) return hn::Zero(di);
  return hn::PromoteTo(di, hn::LoadU(d8, reinterpret_cast<const Code*>(zero_points.data()) + i));
}

template <class Code>
void quantize_last_axis(const QuantizePerChannel::Arguments& a, const float* x, Code* y, std::int64_t channels) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const float* scale = a.scale.data();
  std::int64_t c = 0;
  for (; c + lanes <= channels; c += lanes) {
    store_affine_codes<Code>(d, hn::LoadU(d, x + c), hn::LoadU(d, scale + c),
                             load_zero_points<Code>(d, a.zero_point, c), y + c);
  }
  for (; c < channels; ++c) y[c] = affine_code<Code>(x[c], scale[c], zero_point_at<Code>(a.zero_point, c));
}

template <class Code>
void dequantize_last_axis(const DequantizePerChannel::Arguments& a, const Code* x, float* y, std::int64_t channels) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const float* scale = a.scale.data();
  std::int64_t c = 0;
  for (; c + lanes <= channels; c += lanes) {
    const auto zero_points = load_zero_points<Code>(d, a.zero_point, c);
    hn::StoreU(load_affine_values(d, x + c, hn::LoadU(d, scale + c), zero_points), d, y + c);
  }
  for (; c < channels; ++c) y[c] = affine_value(x[c], scale[c], zero_point_at<Code>(a.zero_point, c));
}

// Calls run(offset, channel) for each stretch of `inner` elements of one channel, or last_axis(offset) for each row of
// channels.
template <class Run, class LastAxis>
void for_each_stretch(const Shape& shape, int axis, Context& context, Run&& run, LastAxis&& last_axis) {
  const ChannelShape split = channel_shape(shape, axis);
  if (split.inner == 1) {
    const std::int64_t chunk = rows_per_chunk(5 * split.channels);
    context.workers.for_chunks(split.outer, chunk, [&](std::int64_t begin, std::int64_t end, int) {
      for (std::int64_t row = begin; row < end; ++row) last_axis(row * split.channels, split.channels);
    });
    return;
  }
  const std::int64_t chunk = rows_per_chunk(5 * split.inner);
  context.workers.for_chunks(split.outer * split.channels, chunk, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t row = begin; row < end; ++row) run(row * split.inner, row % split.channels, split.inner);
  });
}

void quantize_per_channel(const QuantizePerChannel::Arguments& a, Context& context) {
  with_code_type(a.y.dtype(), [&]<class Code>() {
    const float* x = a.x.data();
    auto* y = reinterpret_cast<Code*>(a.y.data());
    for_each_stretch(
        a.x.shape(), a.axis, context,
        [&](std::int64_t offset, std::int64_t channel, std::int64_t length) {
          const int zero_point = zero_point_at<Code>(a.zero_point, channel);
          quantize_stretch<Code>(x + offset, a.scale.data()[channel], zero_point, y + offset, length);
        },
        [&](std::int64_t offset, std::int64_t channels) { quantize_last_axis(a, x + offset, y + offset, channels); });
  });
}

void dequantize_per_channel(const DequantizePerChannel::Arguments& a, Context& context) {
  with_code_type(a.x.dtype(), [&]<class Code>() {
    const auto* x = reinterpret_cast<const Code*>(a.x.data());
    float* y = a.y.data();
    for_each_stretch(
        a.x.shape(), a.axis, context,
        [&](std::int64_t offset, std::int64_t channel, std::int64_t length) {
          const int zero_point = zero_point_at<Code>(a.zero_point, channel);
          dequantize_stretch(x + offset, a.scale.data()[channel], zero_point, y + offset, length);
        },
        [&](std::int64_t offset, std::int64_t channels) { dequantize_last_axis(a, x + offset, y + offset, channels); });
  });
}

}  // namespace
}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot {
const SimdEntries<QuantizePerChannel> quantize_per_channel_simd = INGOT_SIMD_ENTRIES(quantize_per_channel);
const SimdEntries<DequantizePerChannel> dequantize_per_channel_simd = INGOT_SIMD_ENTRIES(dequantize_per_channel);
}  // namespace ingot
#endif
