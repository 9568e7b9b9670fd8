// Few rows of activations and weights in f16, by FMLAL: products of halves, exact, into sums in f32. The contract
// rounds activations to halves at a scale of their row's own, so they are kept as such. Converting weights instead
// takes FCVTL, of which Neoverse V1 starts one a cycle: 20.8 GB/s of weights a core at most, of 27 that memory gives
// it.
#include "kernels/linear/ways/floats/gemm.h"

#include <arm_neon.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "hwy/base.h"
#include "kernels/vector/half_rows.h"
#include "tensor/half.h"

HWY_PUSH_ATTRIBUTES("arch=armv8.2-a+fp16+fp16fml")

namespace ingot {
namespace {

HWY_INLINE float16x8_t load(const std::uint16_t* from) { return vreinterpretq_f16_u16(vld1q_u16(from)); }
HWY_INLINE float32x4_t add_products(float32x4_t sums, float16x8_t weights, float16x8_t x) {
  return vfmlalq_high_f16(vfmlalq_low_f16(sums, weights, x), weights, x);
}
// The scales of all rows of x, then the rows behind each other.
constexpr std::size_t scales_bytes = float_dot_rows * sizeof(float);
std::int64_t padded(std::int64_t depth);
const std::uint16_t* prepared_x(const std::byte* prepared, std::int64_t depth, std::int64_t row) {
  return reinterpret_cast<const std::uint16_t*>(prepared + scales_bytes) + row * padded(depth);
}
float prepared_scale(const std::byte* prepared, std::int64_t row) {
  return reinterpret_cast<const float*>(prepared)[row];
}

#include "kernels/linear/ways/dots/dot_sixteen_bits_neon-inl.h"

void round_rows(const Gemm& gemm, std::byte* rounded) {
  auto* scales = reinterpret_cast<float*>(rounded);
  auto* to = reinterpret_cast<std::uint16_t*>(rounded + scales_bytes);
  for (std::int64_t row = 0; row < gemm.rows; ++row, to += padded(gemm.depth)) {
    const auto* x = reinterpret_cast<const float*>(gemm.left.data + row * gemm.left.width_stride);
    const RowScale scale = half_row_scale(largest_finite.widest(SimdTarget::neon)(x, gemm.depth));
    scales[row] = scale.from_halves;
    std::int64_t k = 0;
    for (; k + 4 <= gemm.depth; k += 4) {
      const float16x4_t halves = vcvt_f16_f32(vmulq_n_f32(vld1q_f32(x + k), scale.to_halves));
      vst1_u16(to + k, vreinterpret_u16_f16(halves));
    }
    for (; k < gemm.depth; ++k) to[k] = Half(x[k] * scale.to_halves).bits;
    for (; k < padded(gemm.depth); ++k) to[k] = 0;
  }
}

constexpr DotProduct product = {round_rows, columns, stream_chunk_bytes};

}  // namespace

const DotProduct* const gemm_dot_neon_fp16 = &product;

}  // namespace ingot

HWY_POP_ATTRIBUTES
