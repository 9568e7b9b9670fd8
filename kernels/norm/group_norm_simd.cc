#include "kernels/norm/group_norm.h"
#include "kernels/vector/simd_targets.h"
#include "tensor/rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/norm/group_norm_simd.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/norm/channel_rows-inl.h"
#include "kernels/norm/row_sums-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {
namespace {

void group_norm(const GroupNorm::Arguments& a, Context& context) {
  const ChannelLayout layout(a.x.shape());
  const std::int64_t channels = layout.channels / a.groups;  // of one group
  const std::int64_t length = channels * layout.positions;
  const auto run = [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t group = begin; group < end; ++group) {
      const float* x = a.x.data() + group * length;
      float* y = a.y.data() + group * length;
      const Moments moments = moments_of(x, length);
      const auto mean = static_cast<float>(moments.mean);
      const auto rstd = static_cast<float>(1 / std::sqrt(moments.variance + double{a.epsilon}));
      for (std::int64_t channel = 0; channel < channels; ++channel) {
        const std::int64_t which = group % a.groups * channels + channel;
        const float gamma = is_present(a.gamma) ? a.gamma(which) : 1;
        const float beta = is_present(a.beta) ? a.beta(which) : 0;
        const std::int64_t at = channel * layout.positions;
        map_stretch<1, 1>({x + at}, {y + at}, layout.positions, CenteredChannel{mean, gamma * rstd, beta});
      }
      if (is_present(a.mean)) a.mean.data()[group] = mean;
      if (is_present(a.rstd)) a.rstd.data()[group] = rstd;
    }
  };
  const auto group_bytes = length * static_cast<std::int64_t>(2 * sizeof(float));
  context.workers.for_chunks(layout.images * a.groups, rows_per_chunk(group_bytes), run);
}

// dy (x - mean), of inputs dy and x; its padding is zero because dy's is
struct CenteredChannelProduct {
  float mean;
  template <class D, class V>
  HWY_INLINE V operator()(D d, const V* in, V sum) const {
    namespace hn = hwy::HWY_NAMESPACE;
    return hn::MulAdd(in[0], hn::Sub(in[1], hn::Set(d, mean)), sum);
  }
};

// dx = rstd (gamma dy - shift - (x - mean) slope), of inputs x and dy
struct ChannelGradient {
  float mean;
  float rstd;
  float gamma;
  float shift;
  float slope;
  template <class D, class V>
  HWY_INLINE void operator()(D d, const V* in, V* out) const {
    namespace hn = hwy::HWY_NAMESPACE;
    const auto difference = hn::MulSub(hn::Set(d, gamma), in[1], hn::Set(d, shift));
    const auto centered = hn::Sub(in[0], hn::Set(d, mean));
    out[0] = hn::Mul(hn::Set(d, rstd), hn::NegMulAdd(centered, hn::Set(d, slope), difference));
  }
};

void group_norm_backward(const GroupNormBackward::Arguments& a, Context& context) {
  const ChannelLayout layout(a.x.shape());
  const std::int64_t channels = layout.channels / a.groups;  // of one group
  const std::int64_t length = channels * layout.positions;
  auto* sums = reinterpret_cast<double*>(context.scratch.data());  // of dy, for each channel of each image
  double* products = sums + layout.images * layout.channels;       // of dy xhat
  const auto gamma_of = [&](std::int64_t channel) { return is_present(a.gamma) ? a.gamma(channel) : 1.0f; };
  const auto run = [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t group = begin; group < end; ++group) {
      const float mean = a.mean.data()[group];
      const float rstd = a.rstd.data()[group];
      const float* x = a.x.data() + group * length;
      const float* dy = a.dy.data() + group * length;
      double shift = 0;
      double slope = 0;
      for (std::int64_t channel = 0; channel < channels; ++channel) {
        const std::int64_t at = channel * layout.positions;
        const std::int64_t index = group * channels + channel;
        sums[index] = sum_stretch<1>({dy + at}, layout.positions, Plain());
        products[index] = rstd * sum_stretch<2>({dy + at, x + at}, layout.positions, CenteredChannelProduct{mean});
        const double gamma = gamma_of(group % a.groups * channels + channel);
        shift += gamma * sums[index];
        slope += gamma * products[index];
      }
      shift /= static_cast<double>(length);
      slope *= double{rstd} / static_cast<double>(length);
      for (std::int64_t channel = 0; channel < channels; ++channel) {
        const std::int64_t at = channel * layout.positions;
        const float gamma = gamma_of(group % a.groups * channels + channel);
        const ChannelGradient gradient = {mean, rstd, gamma, static_cast<float>(shift), static_cast<float>(slope)};
        map_stretch<2, 1>({x + at, dy + at}, {a.dx.data() + group * length + at}, layout.positions, gradient);
      }
    }
  };
  const auto group_bytes = length * static_cast<std::int64_t>(3 * sizeof(float));
  context.workers.for_chunks(layout.images * a.groups, rows_per_chunk(group_bytes), run);
  for (std::int64_t channel = 0; channel < layout.channels; ++channel) {
    double dgamma = 0;
    double dbeta = 0;
    for (std::int64_t image = 0; image < layout.images; ++image) {
      dgamma += products[image * layout.channels + channel];
      dbeta += sums[image * layout.channels + channel];
    }
    if (is_present(a.dgamma)) a.dgamma(channel) = static_cast<float>(dgamma);
    if (is_present(a.dbeta)) a.dbeta(channel) = static_cast<float>(dbeta);
  }
}

}  // namespace
}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot {
const SimdEntries<GroupNorm> group_norm_simd = INGOT_SIMD_ENTRIES(group_norm);
const SimdEntries<GroupNormBackward> group_norm_backward_simd = INGOT_SIMD_ENTRIES(group_norm_backward);
}  // namespace ingot
#endif
