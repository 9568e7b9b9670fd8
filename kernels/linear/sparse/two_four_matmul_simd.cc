// Vector 2:4 product: a weight row is spread into a dense row in cache once, and then meets every x row as a dense dot
// product. The saving is in the bytes of the weights, which is what a decode step waits for.
#include "kernels/linear/sparse/two_four_matmul.h"
#include "kernels/vector/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/linear/sparse/two_four_matmul_simd.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/linear/instructions/dot-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {
namespace {

void spread_row(const float* values, const std::uint8_t* positions, std::int64_t fours, float* dense) {
  std::fill_n(dense, 4 * fours, 0.0f);
  for (std::int64_t four = 0; four < fours; ++four) {
    dense[kept_column(positions[four], four, 0)] = values[2 * four];
    dense[kept_column(positions[four], four, 1)] = values[2 * four + 1];
  }
}

void two_four_matmul(const TwoFourMatmul::Arguments& a, Context& context) {
  const std::int64_t rows = a.x.size(0);
  const std::int64_t depth = a.x.size(1);
  auto* buffers = reinterpret_cast<float*>(context.scratch.data());
  const std::int64_t chunk = rows_per_chunk(depth * (rows + 1) * static_cast<std::int64_t>(sizeof(float)));
  context.workers.for_chunks(a.values.size(0), chunk, [&](std::int64_t begin, std::int64_t end, int worker) {
    float* dense = buffers + worker * depth;
    for (std::int64_t n = begin; n < end; ++n) {
      spread_row(a.values.data() + n * a.values.stride(0), a.positions.data() + n * a.positions.stride(0), depth / 4,
                 dense);
      for (std::int64_t m = 0; m < rows; ++m) {
        const float sum = dot(a.x.data() + m * a.x.stride(0), dense, depth);
        a.y(m, n) = is_present(a.bias) ? sum + a.bias(n) : sum;
      }
    }
  });
}

}  // namespace
}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot {
const SimdEntries<TwoFourMatmul> two_four_matmul_simd = INGOT_SIMD_ENTRIES(two_four_matmul);
}  // namespace ingot
#endif
