// Plain bytes multiplied by VPDPBUSD of 256 bits: an unsigned byte of weights times a signed one of x, four of them
// into a 32-bit lane.
#include "kernels/linear/int8_tiles.h"

#if defined(__x86_64__)
#include <cstring>

#include "hwy/base.h"
#include "kernels/linear/avx512_intrinsics.h"

HWY_PUSH_ATTRIBUTES("avx2,fma,f16c,avxvnni")

namespace ingot {
namespace {

// Each builds on the one before it.
#include "kernels/linear/int8_tiles-inl.h"
//
#include "kernels/linear/quads_avx2-inl.h"
//
#include "kernels/linear/int8_codes_avx2-inl.h"
//
#include "kernels/linear/int8_tiles_avx2-inl.h"

struct ByteQuads {
  static constexpr int code_bytes = 1;
  static constexpr std::uint32_t weight_offset = 128;
  static constexpr auto copy_x = copy_signed;

  static HWY_INLINE std::int32_t copy_weights(const std::byte* from, std::int64_t count, std::uint8_t flip,
                                              std::int8_t* to) {
    return copy_codes(from, count, flip, [&](std::int64_t at, __m256i codes) __attribute__((always_inline)) {
      store_lanes(to + at, _mm256_xor_si256(codes, _mm256_set1_epi8(static_cast<char>(0x80))));
    });
  }

  static HWY_INLINE __m256i add(__m256i chain, __m256i weights, __m256i x) {
    return _mm256_dpbusd_avx_epi32(chain, weights, x);
  }
};

}  // namespace

const Int8Entry int8_tiles_avx_vnni = tile_entry<QuadTiles<ByteQuads>>;

}  // namespace ingot

HWY_POP_ATTRIBUTES

#else

namespace ingot {
const Int8Entry int8_tiles_avx_vnni = {};
}  // namespace ingot

#endif
