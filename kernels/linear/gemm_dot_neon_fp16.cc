// One row of activations and weights in f16, by FMLAL: products of halves, exact, into sums in f32. Converting weights
// instead takes FCVTL, of which Neoverse V1 starts one a cycle: 20.8 GB/s of weights a core at most, of 27 that memory
// gives it.
//
// x is no half, so it is cut in two that are: x = scale (high + low), where a power of two brings the largest magnitude
// to 2^14 and both parts keep 11 bits. What is lost is below 2^-22 of each x, and below 2^-37 of the largest where x is
// so small that halves run out of exponents: within the tolerance of float sums. Both parts have the sign of x, and
// are zero only where it is: an infinite weight meets no zero and no opposite sign that x does not have.
//
// With more rows, conversions are shared and the cut pays no longer.
#include "kernels/linear/gemm.h"

#if defined(__aarch64__)
#include <arm_neon.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "hwy/base.h"

HWY_PUSH_ATTRIBUTES("arch=armv8.2-a+fp16+fp16fml")

namespace ingot {
namespace {

constexpr std::int64_t step = 8;  // numbers of a vector
constexpr std::size_t scale_bytes = 16;
constexpr int columns_at_once =
    8;  // 16 sums of latency 5 for two to four starts a cycle; as many streams as memory likes

float largest_finite(const float* x, std::int64_t count) {
  float largest = 0;
  for (std::int64_t k = 0; k < count; ++k) {
    const float magnitude = std::fabs(x[k]);
    if (magnitude > largest && magnitude <= std::numeric_limits<float>::max()) largest = magnitude;
  }
  return largest;
}

// Four numbers, brought to scale, as their high and their low parts.
HWY_INLINE void cut(float32x4_t x, float16x4_t& high, float16x4_t& low) {
  const float32x4_t least = vdupq_n_f32(0x1p-24f);  // the smallest half above zero
  const float32x4_t magnitude = vabsq_f32(x);
  const uint32x4_t sign = veorq_u32(vreinterpretq_u32_f32(x), vreinterpretq_u32_f32(magnitude));
  const uint32x4_t eleven_bits = vandq_u32(vreinterpretq_u32_f32(magnitude), vdupq_n_u32(0xffffe000));
  const uint32x4_t is_small = vcltq_f32(magnitude, vdupq_n_f32(0x1p-14f));
  const float32x4_t first = vbslq_f32(is_small, least, vreinterpretq_f32_u32(eleven_bits));
  const float32x4_t rest = vmaxq_f32(vsubq_f32(magnitude, first), least);
  const uint32x4_t is_infinite = vceqq_f32(magnitude, vdupq_n_f32(std::numeric_limits<float>::infinity()));
  const float32x4_t second = vbslq_f32(is_infinite, magnitude, rest);
  const uint32x4_t is_zero = vceqzq_f32(x);
  const auto part = [&](float32x4_t value) __attribute__((always_inline)) {
    return vcvt_f16_f32(vreinterpretq_f32_u32(vorrq_u32(vbicq_u32(vreinterpretq_u32_f32(value), is_zero), sign)));
  };
  high = part(first);
  low = part(second);
}

// A scale; then eight high parts and eight low ones in turn, padded with zeros.
void cut_row(const Gemm& gemm, std::byte* coded) {
  const auto* x = reinterpret_cast<const float*>(gemm.left.data);
  const float largest = largest_finite(x, gemm.depth);
  const int exponent = largest == 0 ? 0 : std::clamp(14 - std::ilogb(largest), -126, 126);
  const float factor = std::ldexp(1.0f, exponent);
  const float scale = std::ldexp(1.0f, -exponent);
  std::memcpy(coded, &scale, sizeof(scale));
  auto* to = reinterpret_cast<float16_t*>(coded + scale_bytes);
  for (std::int64_t k = 0; k < gemm.depth; k += step, to += 2 * step) {
    float last[step] = {};
    const float* from = x + k;
    if (gemm.depth - k < step) {
      std::copy(from, x + gemm.depth, last);
      from = last;
    }
    float16x4_t high[2], low[2];
    cut(vmulq_n_f32(vld1q_f32(from), factor), high[0], low[0]);
    cut(vmulq_n_f32(vld1q_f32(from + 4), factor), high[1], low[1]);
    vst1q_f16(to, vcombine_f16(high[0], high[1]));
    vst1q_f16(to + step, vcombine_f16(low[0], low[1]));
  }
}

// A function, because compilers have an intrinsic that is a macro, in which a pack is not expanded.
HWY_INLINE float16x8_t load(const float16_t* from) { return vld1q_f16(from); }

template <std::size_t... i>
HWY_INLINE void add_step(float32x4_t (&sums0)[columns_at_once], float32x4_t (&sums1)[columns_at_once],
                         const float16_t* const (&weights)[columns_at_once], std::int64_t k, const float16_t* x,
                         std::index_sequence<i...>) {
  const float16x8_t halves[] = {load(weights[i] + k)...};
  const float16x8_t high = load(x);
  const float16x8_t low = load(x + step);
  ((sums0[i] = vfmlalq_low_f16(sums0[i], halves[i], high), sums1[i] = vfmlalq_high_f16(sums1[i], halves[i], high)),
   ...);
  ((sums0[i] = vfmlalq_low_f16(sums0[i], halves[i], low), sums1[i] = vfmlalq_high_f16(sums1[i], halves[i], low)), ...);
}

template <std::size_t... i>
HWY_INLINE void dot_tile(const float16_t* x, const float16_t* const (&weights)[columns_at_once], std::int64_t depth,
                         float (&results)[columns_at_once], std::index_sequence<i...> all) {
  float32x4_t sums0[] = {(static_cast<void>(i), vdupq_n_f32(0))...};
  float32x4_t sums1[] = {(static_cast<void>(i), vdupq_n_f32(0))...};
  std::int64_t k = 0;
  for (; k + step <= depth; k += step, x += 2 * step) add_step(sums0, sums1, weights, k, x, all);
  if (k < depth) {
    float16_t last[columns_at_once][step] = {};
    for (int j = 0; j < columns_at_once; ++j) {
      std::memcpy(last[j], weights[j] + k, static_cast<std::size_t>(depth - k) * sizeof(float16_t));
    }
    const float16_t* const ends[] = {last[i]...};
    add_step(sums0, sums1, ends, 0, x, all);
  }
  ((results[i] = vaddvq_f32(vaddq_f32(sums0[i], sums1[i]))), ...);
}

// Columns past the end repeat the last one and are not stored.
void columns(const Gemm& gemm, const std::byte* coded, std::int64_t begin, std::int64_t end) {
  float scale = 0;
  std::memcpy(&scale, coded, sizeof(scale));
  const auto* x = reinterpret_cast<const float16_t*>(coded + scale_bytes);
  for (std::int64_t column = begin; column < end; column += columns_at_once) {
    const float16_t* weights[columns_at_once];
    for (int j = 0; j < columns_at_once; ++j) {
      weights[j] =
          reinterpret_cast<const float16_t*>(gemm.right.data + std::min(column + j, end - 1) * gemm.right.width_stride);
    }
    float results[columns_at_once];
    dot_tile(x, weights, gemm.depth, results, std::make_index_sequence<columns_at_once>());
    for (std::int64_t j = 0; j < std::min<std::int64_t>(columns_at_once, end - column); ++j) {
      gemm.out[column + j] = results[j] * scale + (gemm.bias == nullptr ? 0.0f : gemm.bias[column + j]);
    }
  }
}

constexpr DotProduct product = {cut_row, columns};

}  // namespace

const DotProduct* const gemm_dot_neon_fp16 = &product;

}  // namespace ingot

HWY_POP_ATTRIBUTES

#else

namespace ingot {
const DotProduct* const gemm_dot_neon_fp16 = nullptr;
}  // namespace ingot

#endif
