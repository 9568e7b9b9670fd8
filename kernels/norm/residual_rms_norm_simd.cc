#include "kernels/norm/residual_rms_norm.h"
#include "kernels/vector/simd_targets.h"
#include "tensor/rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/norm/residual_rms_norm_simd.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/norm/rms_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {
namespace {

void residual_rms_norm(const ResidualRmsNorm::Arguments& a, Context& context) {
  const Rows x(a.x);
  const Rows residual(a.residual);
  const Rows sum(a.sum);
  const Rows y(a.y);
  const std::int64_t length = x.length();
  const auto row_bytes = length * static_cast<std::int64_t>(4 * sizeof(float));
  const auto run = [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t row = begin; row < end; ++row) {
      map_stretch<2, 1>({x[row], residual[row]}, {sum[row]}, length, SumOfTwo());
      const float rstd = rms_norm_row(sum[row], a.gamma.data(), a.epsilon, y[row], length, Stores::cached);
      if (is_present(a.rstd)) a.rstd.data()[row] = rstd;
    }
  };
  context.workers.for_chunks(x.count(), rows_per_chunk(row_bytes), run);
}

// As RmsGradient, with dsum added and dx stored twice; of inputs sum, gamma, dy, partial, dsum
struct ResidualGradient {
  RmsGradient norm;
  template <class D, class V>
  HWY_INLINE void operator()(D d, const V* in, V* out) const {
    norm(d, in, out);
    out[0] = hwy::HWY_NAMESPACE::Add(out[0], in[4]);
    out[2] = out[0];
  }
};

void residual_rms_norm_backward(const ResidualRmsNormBackward::Arguments& a, Context& context) {
  const Rows sum(a.sum);
  const Rows dy(a.dy);
  const Rows dx(a.dx);
  const Rows dsum(is_present(a.dsum) ? a.dsum : a.dy);  // where left out, only its type is used
  const Rows dresidual(is_present(a.dresidual) ? a.dresidual : a.dx);
  const std::int64_t length = sum.length();
  auto* zeros = reinterpret_cast<float*>(context.scratch.data());
  std::fill_n(zeros, length, 0.0f);
  float* partials = zeros + length;
  const auto row_bytes = length * static_cast<std::int64_t>(5 * sizeof(float));
  const std::int64_t per_part = rows_per_part(sum.count(), row_bytes);
  const auto run = [&](std::int64_t begin, std::int64_t end, int) {
    float* partial = partials + begin / per_part * 2 * length;
    float* unwanted = partial + length;
    std::fill_n(partial, length, 0.0f);
    for (std::int64_t row = begin; row < end; ++row) {
      const RmsGradient norm = rms_gradient_of(sum[row], a.gamma.data(), dy[row], a.rstd.data()[row], length);
      const float* upstream = is_present(a.dsum) ? dsum[row] : zeros;
      float* second = is_present(a.dresidual) ? dresidual[row] : unwanted;
      map_stretch<5, 3>({sum[row], a.gamma.data(), dy[row], partial, upstream}, {dx[row], partial, second}, length,
                        ResidualGradient{norm});
    }
  };
  context.workers.for_chunks(sum.count(), per_part, run);
  sum_partial_rows(partials, row_part_count(sum.count(), row_bytes), 2 * length, length, a.dgamma.data());
}

}  // namespace
}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot {
const SimdEntries<ResidualRmsNorm> residual_rms_norm_simd = INGOT_SIMD_ENTRIES(residual_rms_norm);
const SimdEntries<ResidualRmsNormBackward> residual_rms_norm_backward_simd =
    INGOT_SIMD_ENTRIES(residual_rms_norm_backward);
}  // namespace ingot
#endif
