// Plain bytes multiplied by SDOT: many rows on panels, few with weights as they lie.
#include "kernels/linear/int8_tiles.h"

#if defined(__aarch64__)
#include <arm_neon.h>

#include <cstring>
#include <utility>

#include "hwy/base.h"

HWY_PUSH_ATTRIBUTES("arch=armv8.2-a+dotprod")

namespace ingot {
namespace {

// Each builds on the one before it.
#include "kernels/linear/unrolled-inl.h"
//
#include "kernels/linear/multiply_neon_dotprod-inl.h"
//
#include "kernels/linear/int8_tiles-inl.h"
//
#include "kernels/linear/int8_tiles_neon-inl.h"
//
#include "kernels/linear/int8_dot-inl.h"

struct NeonDots {
  static constexpr std::uint32_t x_offset = 0;
  static constexpr auto copy_x = copy_signed;

  // Every sixteen bytes of weights meet each row of x and, for their own sum, ones.
  template <int rows>
  static HWY_INLINE void add(const WeightRows& weights, std::uint8_t flip, const std::int8_t* x, std::int64_t stride,
                             std::int64_t count, DotSums<rows>& sums) {
    const int8x16_t flips = vdupq_n_s8(static_cast<std::int8_t>(flip));
    int32x4_t products[rows + 1][weight_rows_at_once] = {};
    for (std::int64_t at = 0; at < count; at += 16) {
      int8x16_t factors[rows + 1];
      unrolled<rows>(INGOT_UNROLLED(m) { factors[m] = vld1q_s8(x + m * stride + at); });
      factors[rows] = vdupq_n_s8(1);
      unrolled<weight_rows_at_once>(INGOT_UNROLLED(i) {
        const int8x16_t loaded = veorq_s8(vld1q_s8(reinterpret_cast<const std::int8_t*>(weights[i]) + at), flips);
        unrolled<rows + 1>(INGOT_UNROLLED(m) { products[m][i] = vdotq_s32(products[m][i], loaded, factors[m]); });
      });
    }
    for (int i = 0; i < weight_rows_at_once; ++i) {
      for (int m = 0; m < rows; ++m) sums.products[m][i] += static_cast<std::uint32_t>(vaddvq_s32(products[m][i]));
      sums.weights[i] += static_cast<std::uint32_t>(vaddvq_s32(products[rows][i]));
    }
  }
};

}  // namespace

const Int8Entry int8_dot_neon_dotprod = dot_entry<NeonDots>;
const Int8Entry int8_tiles_neon_dotprod = tile_entry<NeonTiles<DotMultiply>>;

}  // namespace ingot

#undef INGOT_UNROLLED
HWY_POP_ATTRIBUTES

#else

namespace ingot {
const Int8Entry int8_dot_neon_dotprod = {};
const Int8Entry int8_tiles_neon_dotprod = {};
}  // namespace ingot

#endif
