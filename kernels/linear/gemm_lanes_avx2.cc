// Few rows of x by weights in lanes (lanes.h), by VPMADDUBSW in chains of 16-bit lanes (word_planes).
#include "kernels/linear/lanes.h"

#if defined(__x86_64__)
#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>
#include <utility>

#include "hwy/base.h"
#include "kernels/linear/avx512_intrinsics.h"
#include "kernels/linear/coded_spans.h"
#include "kernels/linear/unsigned_codes.h"
#include "tensor/block_scales.h"

HWY_PUSH_ATTRIBUTES("avx2,fma,f16c")

namespace ingot {
namespace {

constexpr SimdTarget code_target = SimdTarget::avx2;

// Each builds on the one before it.
#include "kernels/linear/unrolled-inl.h"
//
#include "kernels/linear/lanes_256-inl.h"
//
#include "kernels/linear/lanes_bytes-inl.h"

struct Bytes : DotBytes {
  static constexpr int rows = 4;  // three sums each, of 16 registers
  static constexpr int most_planes = 2;
  template <class Block>
  static constexpr CodePlanes planes = word_planes<Block>;
  template <class Block>
  static constexpr int offset = planes<Block>.count == 2 ? 128 : planes<Block>.offset;

  static HWY_INLINE __m256i add(__m256i chain, __m256i weights, __m256i x) {
    const __m256i products = _mm256_maddubs_epi16(weights, x);
    __m256i sum = _mm256_add_epi16(chain, products);
    asm("" : "+x"(sum));  // else GCC sums in another order, and keeps all products in memory first
    return sum;
  }
  // The sign of a weight goes to x, so that two products have room in a 16-bit lane.
  static HWY_INLINE __m256i dot(__m256i weights, __m256i x, std::int32_t) {
    const __m256i pairs = _mm256_maddubs_epi16(_mm256_abs_epi8(weights), _mm256_sign_epi8(x, weights));
    return _mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
  }
  static HWY_INLINE __m256i total(__m256i chain, int plane) {
    return _mm256_madd_epi16(chain, _mm256_set1_epi16(plane == 1 ? 16 : 1));
  }

  // A word holds a scale twice, and VPMADDWD adds a pair of sums and multiplies it in one.
  using Total = __m256i;
  static HWY_INLINE Total add_scaled(Total total, __m256i chain, const float* scales) {
    return _mm256_add_epi32(total, _mm256_madd_epi16(chain, Lanes::load(scales)));
  }
  static HWY_INLINE __m256 to_floats(Total total) { return Lanes::to_floats(total); }
  static HWY_INLINE void store_scale(float* to, __m256i scales) {
    Lanes::store(to, _mm256_or_si256(_mm256_and_si256(scales, Lanes::words(0xffff)), _mm256_slli_epi32(scales, 16)));
  }
  // For each of the two sums of a lane.
  static std::int32_t correction(const std::int8_t* codes, int count, int offset) {
    std::int32_t sums[2] = {};
    for (int i = 0; i < count; ++i) sums[i / 2 % 2] += codes[i];
    auto half = [&](int i) { return static_cast<std::uint32_t>(-offset * sums[i]) & 0xffffu; };
    return static_cast<std::int32_t>(half(0) | half(1) << 16);
  }
};

#include "kernels/linear/lanes_unpack-inl.h"
//
#include "kernels/linear/lanes_unpack_256-inl.h"
//
#include "kernels/linear/lanes_dot-inl.h"
//
#include "kernels/linear/lanes_columns-inl.h"
//
#include "kernels/linear/lanes_direct_256-inl.h"

constexpr LaneProduct product = {encode, directly_or_in_lanes};

}  // namespace

const LaneProduct* const lanes_avx2 = &product;

}  // namespace ingot

#undef INGOT_UNROLLED
HWY_POP_ATTRIBUTES

#else

namespace ingot {
const LaneProduct* const lanes_avx2 = nullptr;
}  // namespace ingot

#endif
