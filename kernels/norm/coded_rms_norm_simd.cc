#include "kernels/norm/coded_rms_norm.h"
#include "kernels/vector/simd_targets.h"
#include "tensor/block_codes.h"
#include "tensor/rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/norm/coded_rms_norm_simd.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/norm/rms_rows-inl.h"
#include "kernels/vector/activation_codes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {
namespace {

// A row of y stays in the first-level cache until it is codes.
void coded_rms_norm(const CodedRmsNorm::Arguments& a, Context& context) {
  const Rows x(a.x);
  const bool has_residual = is_present(a.residual);
  const Rows residual(has_residual ? a.residual : a.x);  // where left out, only its type is used
  const Rows codes(a.codes);
  const Rows scales(a.scales);
  const Rows sums(a.sums);
  const std::int64_t length = x.length();
  auto* rows = reinterpret_cast<float*>(context.scratch.data());
  const auto run = [&](std::int64_t begin, std::int64_t end, int worker) {
    float* y = rows + worker * length;
    for (std::int64_t row = begin; row < end; ++row) {
      const float* from = x[row];
      if (has_residual) {
        float* sum = Rows(a.sum)[row];
        map_stretch<2, 1>({x[row], residual[row]}, {sum}, length, SumOfTwo());
        from = sum;
      }
      rms_norm_row(from, a.gamma.data(), a.epsilon, y, length, Stores::cached);
      for (std::int64_t at = 0; at < length; at += a.block) {
        scales[row][at / a.block] =
            encode_activations_vector(y + at, a.block, codes[row] + at, sums[row] + at / code_group);
      }
    }
  };
  const auto row_bytes = length * static_cast<std::int64_t>(4 * sizeof(float));
  context.workers.for_chunks(x.count(), rows_per_chunk(row_bytes), run);
}

}  // namespace
}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot {
const SimdEntries<CodedRmsNorm> coded_rms_norm_simd = INGOT_SIMD_ENTRIES(coded_rms_norm);
}  // namespace ingot
#endif
