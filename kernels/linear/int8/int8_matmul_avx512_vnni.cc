// Plain bytes multiplied by VPDPBUSD of 512 bits: an unsigned byte of x times a signed one of weights, four of them
// into a 32-bit lane. Many rows on panels, few with weights as they lie.
#include "kernels/linear/int8/int8_tiles.h"

#include <cstring>

#include "hwy/base.h"
#include "kernels/linear/instructions/avx512_intrinsics.h"

HWY_PUSH_ATTRIBUTES("avx2,fma,f16c,avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")

namespace ingot {
namespace {

// Each builds on the one before it.
#include "kernels/linear/int8/int8_tiles-inl.h"
//
#include "kernels/linear/instructions/transpose_avx512-inl.h"
//
#include "kernels/linear/int8/int8_codes_avx2-inl.h"
//
#include "kernels/linear/int8/int8_tiles_avx512-inl.h"
//
#include "kernels/linear/instructions/multiply_avx512_vnni-inl.h"
//
#include "kernels/linear/int8/int8_dot-inl.h"

struct ByteTiles : WideTiles {
  static constexpr std::uint32_t x_offset = offset;
  static constexpr int x_panels = 1, weight_panels = 1;

  // Four codes of all rows at a time, so that sixteen sums do not wait for each other.
  static void add(const TileStep<Panel>& step) {
    PanelSums& sums = step.sums[0];
    __m512i totals[panel_rows];
    for (int i = 0; i < panel_rows; ++i) totals[i] = _mm512_load_si512(sums[i]);
    for (std::int64_t at = 0; at < step.bytes; at += 32) {
      const UnsignedRows rows(step.x + at * panel_rows);
#pragma GCC unroll 8
      for (int quad = 0; quad < 8; ++quad) {
#pragma GCC unroll 16
        for (int i = 0; i < panel_rows; ++i) {
          totals[i] =
              _mm512_dpbusd_epi32(totals[i], rows.quads[quad], four_codes(step.weights->codes[i] + at + 4 * quad));
        }
      }
    }
    for (int i = 0; i < panel_rows; ++i) _mm512_store_si512(sums[i], totals[i]);
  }
};

struct ByteDots {
  static constexpr std::uint32_t x_offset = offset;
  static constexpr std::int64_t chunk_bytes = 64 << 10;

  static HWY_INLINE std::int32_t copy_x(const std::byte* from, std::int64_t count, std::uint8_t flip, std::int8_t* to) {
    return copy_codes(from, count, flip, [&](std::int64_t at, __m256i codes) __attribute__((always_inline)) {
      const __m256i unsigned_codes = _mm256_xor_si256(codes, _mm256_set1_epi8(static_cast<char>(offset)));
      _mm256_store_si256(reinterpret_cast<__m256i*>(to + at), unsigned_codes);
    });
  }

  // Every 64 bytes of weights meet each row of x and, for their own sum, ones.
  template <int rows>
  static HWY_INLINE void add(const std::byte* weights, std::uint8_t flip, const std::int8_t* x, std::int64_t stride,
                             std::int64_t count, DotSums<rows>& sums) {
    const __m512i flips = _mm512_set1_epi8(static_cast<char>(flip));
    __m512i products[rows + 1] = {};
    for (std::int64_t at = 0; at < count; at += 64) {
      const __m512i loaded = _mm512_xor_si512(_mm512_loadu_si512(weights + at), flips);
#pragma GCC unroll 4
      for (int m = 0; m < rows; ++m) {
        products[m] = _mm512_dpbusd_epi32(products[m], _mm512_load_si512(x + m * stride + at), loaded);
      }
      products[rows] = _mm512_dpbusd_epi32(products[rows], _mm512_set1_epi8(1), loaded);
    }
    for (int m = 0; m < rows; ++m) {
      sums.products[m] += static_cast<std::uint32_t>(_mm512_reduce_add_epi32(products[m]));
    }
    sums.weights += static_cast<std::uint32_t>(_mm512_reduce_add_epi32(products[rows]));
  }
};

}  // namespace

const Int8Entry int8_dot_avx512_vnni = dot_entry<ByteDots>;
const Int8Entry int8_tiles_avx512_vnni = tile_entry<ByteTiles>;

}  // namespace ingot

HWY_POP_ATTRIBUTES
