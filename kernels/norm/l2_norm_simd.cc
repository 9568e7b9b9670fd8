#include "kernels/norm/l2_norm.h"
#include "kernels/vector/simd_targets.h"
#include "tensor/rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/norm/l2_norm_simd.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/norm/row_sums-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {
namespace {

struct Scaled {
  float factor;
  template <class D, class V>
  HWY_INLINE void operator()(D d, const V* in, V* out) const {
    out[0] = hwy::HWY_NAMESPACE::Mul(in[0], hwy::HWY_NAMESPACE::Set(d, factor));
  }
};

void l2_norm(const L2Norm::Arguments& a, Context& context) {
  const Rows x(a.x);
  const Rows y(a.y);
  const std::int64_t length = x.length();
  const auto row_bytes = length * static_cast<std::int64_t>(2 * sizeof(float));
  const auto run = [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t row = begin; row < end; ++row) {
      const double sum = sum_of_squares(x[row], length, a.epsilon);
      const auto rstd = static_cast<float>(1 / std::sqrt(sum + double{a.epsilon}));
      map_stretch<1, 1>({x[row]}, {y[row]}, length, Scaled{rstd});
      if (is_present(a.rstd)) a.rstd.data()[row] = rstd;
    }
  };
  context.workers.for_chunks(x.count(), rows_per_chunk(row_bytes), run);
}

// dx = rstd (dy - x slope), of inputs x and dy
struct LengthGradient {
  float rstd;
  float slope;
  template <class D, class V>
  HWY_INLINE void operator()(D d, const V* in, V* out) const {
    namespace hn = hwy::HWY_NAMESPACE;
    out[0] = hn::Mul(hn::Set(d, rstd), hn::NegMulAdd(in[0], hn::Set(d, slope), in[1]));
  }
};

void l2_norm_backward(const L2NormBackward::Arguments& a, Context& context) {
  const Rows x(a.x);
  const Rows dy(a.dy);
  const Rows dx(a.dx);
  const std::int64_t length = x.length();
  const auto row_bytes = length * static_cast<std::int64_t>(3 * sizeof(float));
  const auto run = [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t row = begin; row < end; ++row) {
      const float rstd = a.rstd.data()[row];
      const double sum = sum_stretch<2>({dy[row], x[row]}, length, Product<2>());
      const LengthGradient gradient = {rstd, static_cast<float>(sum * rstd * rstd)};
      map_stretch<2, 1>({x[row], dy[row]}, {dx[row]}, length, gradient);
    }
  };
  context.workers.for_chunks(x.count(), rows_per_chunk(row_bytes), run);
}

}  // namespace
}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot {
const SimdEntries<L2Norm> l2_norm_simd = INGOT_SIMD_ENTRIES(l2_norm);
const SimdEntries<L2NormBackward> l2_norm_backward_simd = INGOT_SIMD_ENTRIES(l2_norm_backward);
}  // namespace ingot
#endif
