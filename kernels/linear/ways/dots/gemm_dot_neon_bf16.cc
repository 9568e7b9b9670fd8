// Few rows of activations and weights in bf16, by BFDOT: pairs of bf16 numbers into a lane of f32. The contract rounds
// activations to bf16, so they are kept as such: a third of the instructions and half the loads of x that products
// in f32 take, and what is left bounds the loop by memory.
#include "kernels/linear/ways/floats/gemm.h"

#include <arm_neon.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "hwy/base.h"
#include "tensor/half.h"

HWY_PUSH_ATTRIBUTES("arch=armv8.2-a+bf16")

namespace ingot {
namespace {

HWY_INLINE bfloat16x8_t load(const std::uint16_t* from) { return vreinterpretq_bf16_u16(vld1q_u16(from)); }
HWY_INLINE float32x4_t add_products(float32x4_t sums, bfloat16x8_t weights, bfloat16x8_t x) {
  return vbfdotq_f32(sums, weights, x);
}
// Rows of x lie behind each other.
std::int64_t padded(std::int64_t depth);
const std::uint16_t* prepared_x(const std::byte* prepared, std::int64_t depth, std::int64_t row) {
  return reinterpret_cast<const std::uint16_t*>(prepared) + row * padded(depth);
}
constexpr float prepared_scale(const std::byte*, std::int64_t) { return 1; }

#include "kernels/linear/ways/dots/dot_sixteen_bits_neon-inl.h"

void round_rows(const Gemm& gemm, std::byte* rounded) {
  auto* to = reinterpret_cast<std::uint16_t*>(rounded);
  for (std::int64_t row = 0; row < gemm.rows; ++row, to += padded(gemm.depth)) {
    const auto* x = reinterpret_cast<const float*>(gemm.left.data + row * gemm.left.width_stride);
    std::int64_t k = 0;
    for (; k + 4 <= gemm.depth; k += 4) {
      vst1_u16(to + k, vreinterpret_u16_bf16(vcvt_bf16_f32(vld1q_f32(x + k))));
    }
    for (; k < gemm.depth; ++k) to[k] = BFloat16(x[k]).bits;
    for (; k < padded(gemm.depth); ++k) to[k] = 0;
  }
}

constexpr DotProduct product = {round_rows, columns, stream_chunk_bytes};

}  // namespace

const DotProduct* const gemm_dot_neon_bf16 = &product;

}  // namespace ingot

HWY_POP_ATTRIBUTES
