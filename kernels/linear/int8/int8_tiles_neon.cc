// Plain bytes by the byte products of NEON: many rows on panels, few with weights as they lie.
#include "kernels/linear/int8/int8_tiles.h"

#include <arm_neon.h>

#include <cstring>
#include <utility>

#include "hwy/base.h"

// Plain bytes multiplied by SDOT: many rows on panels, few with weights as they lie.
HWY_PUSH_ATTRIBUTES("arch=armv8.2-a+dotprod")

namespace ingot {
namespace {
namespace byte_dots {

// Each builds on the one before it.
#include "kernels/linear/instructions/unrolled-inl.h"
//
#include "kernels/linear/instructions/multiply_neon_dotprod-inl.h"
//
#include "kernels/linear/int8/int8_tiles-inl.h"
//
#include "kernels/linear/int8/int8_tiles_neon-inl.h"
//
#include "kernels/linear/int8/int8_dot-inl.h"

struct NeonDots {
  static constexpr std::uint32_t x_offset = 0;
  static constexpr std::int64_t chunk_bytes = 512 << 10;  // a stream starts slowly: 64 KiB each reach 80 % of this
  static constexpr auto copy_x = copy_signed;

  // Every sixteen bytes of weights meet each row of x and, for their own sum, ones. Sums of several neighbouring
  // sixteens, so that they do not wait for each other.
  template <int rows>
  static HWY_INLINE void add(const std::byte* weights, std::uint8_t flip, const std::int8_t* x, std::int64_t stride,
                             std::int64_t count, DotSums<rows>& sums) {
    constexpr int parts = rows == 1 ? 4 : 2;
    const int8x16_t flips = vdupq_n_s8(static_cast<std::int8_t>(flip));
    int32x4_t products[rows + 1][parts] = {};
    for (std::int64_t at = 0; at < count; at += 16 * parts) {
      unrolled<parts>(INGOT_UNROLLED(part) {
        const std::int64_t from = at + 16 * part;
        const int8x16_t loaded = veorq_s8(vld1q_s8(reinterpret_cast<const std::int8_t*>(weights) + from), flips);
        unrolled<rows>(INGOT_UNROLLED(m) {
          products[m][part] = vdotq_s32(products[m][part], loaded, vld1q_s8(x + m * stride + from));
        });
        products[rows][part] = vdotq_s32(products[rows][part], loaded, vdupq_n_s8(1));
      });
    }
    auto total = [](const int32x4_t(&of_parts)[parts]) __attribute__((always_inline)) {
      int32x4_t sum = of_parts[0];
      unrolled<parts - 1>(INGOT_UNROLLED(part) { sum = vaddq_s32(sum, of_parts[part + 1]); });
      return static_cast<std::uint32_t>(vaddvq_s32(sum));
    };
    for (int m = 0; m < rows; ++m) sums.products[m] += total(products[m]);
    sums.weights += total(products[rows]);
  }
};

}  // namespace byte_dots
}  // namespace

const Int8Entry int8_dot_neon_dotprod = byte_dots::dot_entry<byte_dots::NeonDots>;
const Int8Entry int8_tiles_neon_dotprod = byte_dots::tile_entry<byte_dots::NeonTiles<byte_dots::DotMultiply>>;

}  // namespace ingot

#undef INGOT_UNROLLED
HWY_POP_ATTRIBUTES

// Plain bytes multiplied by SMMLA.
HWY_PUSH_ATTRIBUTES("arch=armv8.2-a+dotprod+i8mm")

namespace ingot {
namespace {
namespace byte_matrices {

// Each builds on the one before it.
#include "kernels/linear/instructions/unrolled-inl.h"
//
#include "kernels/linear/instructions/multiply_neon_i8mm-inl.h"
//
#include "kernels/linear/int8/int8_tiles-inl.h"
//
#include "kernels/linear/int8/int8_tiles_neon-inl.h"

}  // namespace byte_matrices
}  // namespace

const Int8Entry int8_tiles_neon_i8mm =
    byte_matrices::tile_entry<byte_matrices::NeonTiles<byte_matrices::MatrixMultiply>>;

}  // namespace ingot

#undef INGOT_UNROLLED
HWY_POP_ATTRIBUTES
