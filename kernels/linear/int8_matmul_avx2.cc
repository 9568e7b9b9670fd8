// Plain bytes multiplied by VPMADDWD, as words: VPMADDUBSW saturates with codes of eight bits, and splitting them costs
// as many instructions as widening.
#include "kernels/linear/int8_tiles.h"

#if defined(__x86_64__)
#include <cstring>

#include "hwy/base.h"
#include "kernels/linear/avx512_intrinsics.h"

HWY_PUSH_ATTRIBUTES("avx2,fma,f16c")

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

}  // namespace

const Int8Entry int8_tiles_avx2 = tile_entry<QuadTiles<WordPairs>>;

}  // namespace ingot

HWY_POP_ATTRIBUTES

#else

namespace ingot {
const Int8Entry int8_tiles_avx2 = {};
}  // namespace ingot

#endif
