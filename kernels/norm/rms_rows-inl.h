// What the RMS norms share: one row forward, one row backward, and the sum of partial rows.
#if defined(INGOT_KERNELS_NORM_RMS_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef INGOT_KERNELS_NORM_RMS_ROWS_INL_H_
#undef INGOT_KERNELS_NORM_RMS_ROWS_INL_H_
#else
#define INGOT_KERNELS_NORM_RMS_ROWS_INL_H_
#endif

#include <cmath>

#include "kernels/norm/rms_norm.h"
#include "kernels/norm/row_sums-inl.h"
#include "kernels/norm/shapes.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {

// y = gamma x rstd, of inputs x and gamma
struct ScaledRow {
  float rstd;
  template <class D, class V>
  HWY_INLINE void operator()(D d, const V* in, V* out) const {
    namespace hn = hwy::HWY_NAMESPACE;
    out[0] = hn::Mul(hn::Mul(in[0], hn::Set(d, rstd)), in[1]);
  }
};

// Two passes over a row that stays in cache between them, so memory is read once. Returns rstd.
inline float rms_norm_row(const float* x, const float* gamma, float epsilon, float* y, std::int64_t length,
                          Stores stores) {
  const double mean = sum_of_squares(x, length, epsilon) / static_cast<double>(length);
  const auto rstd = static_cast<float>(1 / std::sqrt(mean + double{epsilon}));
  map_stretch<2, 1>({x, gamma}, {y}, length, ScaledRow{rstd}, stores);
  return rstd;
}

inline void rms_norm_rows(const RmsNorm::Arguments& a, Context& context) {
  const Rows x(a.x);
  const Rows y(a.y);
  const std::int64_t length = x.length();
  const auto row_bytes = length * static_cast<std::int64_t>(2 * sizeof(float));
  const Stores stores = a.x.data() == a.y.data() ? Stores::cached : stores_for(x.count() * row_bytes / 2);
  const auto run = [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t row = begin; row < end; ++row) {
      const float rstd = rms_norm_row(x[row], a.gamma.data(), a.epsilon, y[row], length, stores);
      if (is_present(a.rstd)) a.rstd.data()[row] = rstd;
    }
  };
  context.workers.for_chunks(x.count(), rows_per_chunk(row_bytes), run);
}

// dx = rstd (gamma dy - x slope) and partial += dy x rstd, of inputs x, gamma, dy, partial
struct RmsGradient {
  float rstd;
  float slope;  // rstd mean(gamma dy xhat)
  template <class D, class V>
  HWY_INLINE void operator()(D d, const V* in, V* out) const {
    namespace hn = hwy::HWY_NAMESPACE;
    const auto scale = hn::Set(d, rstd);
    out[0] = hn::Mul(scale, hn::NegMulAdd(in[0], hn::Set(d, slope), hn::Mul(in[1], in[2])));
    out[1] = hn::MulAdd(in[2], hn::Mul(in[0], scale), in[3]);
  }
};

inline RmsGradient rms_gradient_of(const float* x, const float* gamma, const float* dy, float rstd,
                                   std::int64_t length) {
  const double sum = sum_stretch<3>({gamma, dy, x}, length, Product<3>());
  return {rstd, static_cast<float>(sum * rstd * rstd / static_cast<double>(length))};
}

struct SumOfTwo {
  template <class D, class V>
  HWY_INLINE void operator()(D, const V* in, V* out) const {
    out[0] = hwy::HWY_NAMESPACE::Add(in[0], in[1]);
  }
};

// total = sum of rows of partials, in order.
inline void sum_partial_rows(const float* partials, std::int64_t rows, std::int64_t stride, std::int64_t length,
                             float* total) {
  std::fill_n(total, length, 0.0f);
  for (std::int64_t row = 0; row < rows; ++row)
    map_stretch<2, 1>({total, partials + row * stride}, {total}, length, SumOfTwo());
}

// Scratch: rms_norm_backward_scratch.
inline void rms_norm_backward_rows(const RmsNormBackward::Arguments& a, Context& context) {
  const Rows x(a.x);
  const Rows dy(a.dy);
  const Rows dx(a.dx);
  const std::int64_t length = x.length();
  const auto row_bytes = length * static_cast<std::int64_t>(3 * sizeof(float));
  const std::int64_t per_part = rows_per_part(x.count(), row_bytes);
  auto* partials = reinterpret_cast<float*>(context.scratch.data());
  const auto run = [&](std::int64_t begin, std::int64_t end, int) {
    float* partial = partials + begin / per_part * length;
    std::fill_n(partial, length, 0.0f);
    for (std::int64_t row = begin; row < end; ++row) {
      const float rstd = a.rstd.data()[row];
      const RmsGradient gradient = rms_gradient_of(x[row], a.gamma.data(), dy[row], rstd, length);
      map_stretch<4, 2>({x[row], a.gamma.data(), dy[row], partial}, {dx[row], partial}, length, gradient);
    }
  };
  context.workers.for_chunks(x.count(), per_part, run);
  sum_partial_rows(partials, row_part_count(x.count(), row_bytes), length, length, a.dgamma.data());
}

}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggling guard
