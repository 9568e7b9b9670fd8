#include "kernels/norm/layer_norm.h"
#include "kernels/vector/simd_targets.h"
#include "tensor/rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/norm/layer_norm_simd.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/norm/rms_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {
namespace {

// y = gamma (x - mean) rstd + beta, of inputs x, gamma, beta
struct CenteredRow {
  float mean;
  float rstd;
  template <class D, class V>
  HWY_INLINE void operator()(D d, const V* in, V* out) const {
    namespace hn = hwy::HWY_NAMESPACE;
    const auto xhat = hn::Mul(hn::Sub(in[0], hn::Set(d, mean)), hn::Set(d, rstd));
    out[0] = hn::MulAdd(xhat, in[1], in[2]);
  }
};

void layer_norm(const LayerNorm::Arguments& a, Context& context) {
  const Rows x(a.x);
  const Rows y(a.y);
  const std::int64_t length = x.length();
  auto* ones = reinterpret_cast<float*>(context.scratch.data());
  float* zeros = ones + length;
  if (!is_present(a.gamma)) std::fill_n(ones, length, 1.0f);
  if (!is_present(a.beta)) std::fill_n(zeros, length, 0.0f);
  const float* gamma = is_present(a.gamma) ? a.gamma.data() : ones;
  const float* beta = is_present(a.beta) ? a.beta.data() : zeros;
  const auto row_bytes = length * static_cast<std::int64_t>(2 * sizeof(float));
  const Stores stores = a.x.data() == a.y.data() ? Stores::cached : stores_for(x.count() * row_bytes / 2);
  const auto run = [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t row = begin; row < end; ++row) {
      const Moments moments = moments_of(x[row], length);
      const auto mean = static_cast<float>(moments.mean);
      const auto rstd = static_cast<float>(1 / std::sqrt(moments.variance + double{a.epsilon}));
      map_stretch<3, 1>({x[row], gamma, beta}, {y[row]}, length, CenteredRow{mean, rstd}, stores);
      if (is_present(a.mean)) a.mean.data()[row] = mean;
      if (is_present(a.rstd)) a.rstd.data()[row] = rstd;
    }
  };
  context.workers.for_chunks(x.count(), rows_per_chunk(row_bytes), run);
}

// gamma dy (x - mean), of inputs gamma, dy, x; its padding is zero because gamma's is
struct CenteredProduct {
  float mean;
  template <class D, class V>
  HWY_INLINE V operator()(D d, const V* in, V sum) const {
    namespace hn = hwy::HWY_NAMESPACE;
    return hn::MulAdd(hn::Mul(in[0], in[1]), hn::Sub(in[2], hn::Set(d, mean)), sum);
  }
};

// dx = rstd (gamma dy - shift - xhat slope), dgamma += dy xhat, dbeta += dy; of inputs x, gamma, dy, dgamma, dbeta
struct CenteredGradient {
  float mean;
  float rstd;
  float shift;
  float slope;
  template <class D, class V>
  HWY_INLINE void operator()(D d, const V* in, V* out) const {
    namespace hn = hwy::HWY_NAMESPACE;
    const auto scale = hn::Set(d, rstd);
    const auto xhat = hn::Mul(hn::Sub(in[0], hn::Set(d, mean)), scale);
    const auto difference = hn::MulSub(in[1], in[2], hn::Set(d, shift));
    out[0] = hn::Mul(scale, hn::NegMulAdd(xhat, hn::Set(d, slope), difference));
    out[1] = hn::MulAdd(in[2], xhat, in[3]);
    out[2] = hn::Add(in[4], in[2]);
  }
};

void layer_norm_backward(const LayerNormBackward::Arguments& a, Context& context) {
  const Rows x(a.x);
  const Rows dy(a.dy);
  const Rows dx(a.dx);
  const std::int64_t length = x.length();
  const auto width = static_cast<double>(length);
  auto* ones = reinterpret_cast<float*>(context.scratch.data());
  if (!is_present(a.gamma)) std::fill_n(ones, length, 1.0f);
  const float* gamma = is_present(a.gamma) ? a.gamma.data() : ones;
  float* partials = ones + length;
  const auto row_bytes = length * static_cast<std::int64_t>(3 * sizeof(float));
  const std::int64_t per_part = rows_per_part(x.count(), row_bytes);
  const auto run = [&](std::int64_t begin, std::int64_t end, int) {
    float* dgamma = partials + begin / per_part * 2 * length;
    float* dbeta = dgamma + length;
    std::fill_n(dgamma, 2 * length, 0.0f);
    for (std::int64_t row = begin; row < end; ++row) {
      const float mean = a.mean.data()[row];
      const float rstd = a.rstd.data()[row];
      const double sum = sum_stretch<2>({gamma, dy[row]}, length, Product<2>());
      const double product = sum_stretch<3>({gamma, dy[row], x[row]}, length, CenteredProduct{mean});
      const CenteredGradient gradient = {mean, rstd, static_cast<float>(sum / width),
                                         static_cast<float>(product * rstd / width)};
      map_stretch<5, 3>({x[row], gamma, dy[row], dgamma, dbeta}, {dx[row], dgamma, dbeta}, length, gradient);
    }
  };
  context.workers.for_chunks(x.count(), per_part, run);
  const std::int64_t parts = row_part_count(x.count(), row_bytes);
  if (is_present(a.dgamma)) sum_partial_rows(partials, parts, 2 * length, length, a.dgamma.data());
  if (is_present(a.dbeta)) sum_partial_rows(partials + length, parts, 2 * length, length, a.dbeta.data());
}

}  // namespace
}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot {
const SimdEntries<LayerNorm> layer_norm_simd = INGOT_SIMD_ENTRIES(layer_norm);
const SimdEntries<LayerNormBackward> layer_norm_backward_simd = INGOT_SIMD_ENTRIES(layer_norm_backward);
}  // namespace ingot
#endif
