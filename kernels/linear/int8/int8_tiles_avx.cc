// Plain bytes by registers of 256 bits: one algorithm, two ways of summing four products.
#include "kernels/linear/int8/int8_tiles.h"

#include <cstring>

#include "hwy/base.h"
#include "kernels/linear/instructions/avx512_intrinsics.h"

// Plain bytes multiplied by VPDPBUSD of 256 bits: an unsigned byte of weights times a signed one of x, four of them
// into a 32-bit lane.
HWY_PUSH_ATTRIBUTES("avx2,fma,f16c,avxvnni")

namespace ingot {
namespace {
namespace byte_dots {

// Each builds on the one before it.
#include "kernels/linear/int8/int8_tiles-inl.h"
//
#include "kernels/linear/instructions/quads_avx2-inl.h"
//
#include "kernels/linear/int8/int8_codes_avx2-inl.h"
//
#include "kernels/linear/int8/int8_tiles_avx2-inl.h"

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

}  // namespace byte_dots
}  // namespace

const Int8Entry int8_tiles_avx_vnni = byte_dots::tile_entry<byte_dots::QuadTiles<byte_dots::ByteQuads>>;

}  // namespace ingot

HWY_POP_ATTRIBUTES

// Plain bytes multiplied by VPMADDWD, as words: VPMADDUBSW saturates with codes of eight bits, and splitting them costs
// as many instructions as widening.
HWY_PUSH_ATTRIBUTES("avx2,fma,f16c")

namespace ingot {
namespace {
namespace word_pairs {

// Each builds on the one before it.
#include "kernels/linear/int8/int8_tiles-inl.h"
//
#include "kernels/linear/instructions/quads_avx2-inl.h"
//
#include "kernels/linear/int8/int8_codes_avx2-inl.h"
//
#include "kernels/linear/int8/int8_tiles_avx2-inl.h"

// A quad is two words.
struct WordPairs {
  static constexpr int code_bytes = 2;
  static constexpr std::uint32_t weight_offset = 0;

  static HWY_INLINE std::int32_t copy_x(const std::byte* from, std::int64_t count, std::uint8_t flip, std::int8_t* to) {
    return copy_codes(from, count, flip, [&](std::int64_t at, __m256i codes) __attribute__((always_inline)) {
      store_lanes(to + 2 * at, _mm256_cvtepi8_epi16(_mm256_castsi256_si128(codes)));
      store_lanes(to + 2 * at + 32, _mm256_cvtepi8_epi16(_mm256_extracti128_si256(codes, 1)));
    });
  }
  static constexpr auto copy_weights = copy_x;

  static HWY_INLINE __m256i add(__m256i chain, __m256i weights, __m256i x) {
    return _mm256_add_epi32(chain, _mm256_madd_epi16(weights, x));
  }
};

}  // namespace word_pairs
}  // namespace

const Int8Entry int8_tiles_avx2 = word_pairs::tile_entry<word_pairs::QuadTiles<word_pairs::WordPairs>>;

}  // namespace ingot

HWY_POP_ATTRIBUTES
