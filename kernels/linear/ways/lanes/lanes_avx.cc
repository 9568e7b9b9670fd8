// Few rows of x by weights in lanes (lanes.h): one algorithm, three ways of summing four products.
#include "kernels/linear/ways/lanes/lanes.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>
#include <utility>

#include "hwy/base.h"
#include "kernels/linear/instructions/avx512_intrinsics.h"
#include "kernels/linear/instructions/unsigned_codes.h"
#include "kernels/linear/ways/dots/coded_spans.h"
#include "tensor/block_scales.h"

// Few rows of x by weights in lanes (lanes.h), by byte dot products of 512 bits (VPDPBUSD), to which a broadcast of
// four codes of x costs nothing.
HWY_PUSH_ATTRIBUTES("avx2,fma,f16c,avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")

namespace ingot {
namespace {
namespace wide_dots {

constexpr SimdTarget code_target = SimdTarget::avx512;

// Each builds on the one before it.
#include "kernels/linear/instructions/unrolled-inl.h"
//
#include "kernels/linear/ways/lanes/lanes_512-inl.h"
//
#include "kernels/linear/ways/lanes/lanes_bytes-inl.h"

struct Bytes : DotBytes {
  static constexpr int rows = 8;  // a sum of integers and one of floats each, of 32 registers
  static HWY_INLINE __m512i add(__m512i chain, __m512i weights, __m512i x) {
    return _mm512_dpbusd_epi32(chain, weights, x);
  }
};

#include "kernels/linear/ways/lanes/lanes_unpack-inl.h"
//
#include "kernels/linear/ways/lanes/lanes_unpack_256-inl.h"
//
#include "kernels/linear/ways/lanes/lanes_dot-inl.h"
//
#include "kernels/linear/ways/lanes/lanes_columns-inl.h"

constexpr LaneProduct product = {encode, columns};

}  // namespace wide_dots
}  // namespace

const LaneProduct* const lanes_avx512_vnni = &wide_dots::product;

}  // namespace ingot

#undef INGOT_UNROLLED
HWY_POP_ATTRIBUTES

// Few rows of x by weights in lanes (lanes.h), by byte dot products of 256 bits (VPDPBUSD).
HWY_PUSH_ATTRIBUTES("avx2,fma,f16c,avxvnni")

namespace ingot {
namespace {
namespace byte_dots {

constexpr SimdTarget code_target = SimdTarget::avx2;

// Each builds on the one before it.
#include "kernels/linear/instructions/unrolled-inl.h"
//
#include "kernels/linear/ways/lanes/lanes_256-inl.h"
//
#include "kernels/linear/ways/lanes/lanes_bytes-inl.h"

struct Bytes : DotBytes {
  static constexpr int rows = 4;  // three sums each, of 16 registers
  static HWY_INLINE __m256i add(__m256i chain, __m256i weights, __m256i x) {
    return _mm256_dpbusd_avx_epi32(chain, weights, x);
  }
  static HWY_INLINE __m256i dot(__m256i weights, __m256i x, std::int32_t correction) {
    const __m256i start = _mm256_zextsi128_si256(_mm_cvtsi32_si128(correction));
    return add(start, _mm256_add_epi8(weights, Lanes::bytes(offset<BlockQ8_0>)), x);
  }
};

#include "kernels/linear/ways/lanes/lanes_unpack-inl.h"
//
#include "kernels/linear/ways/lanes/lanes_unpack_256-inl.h"
//
#include "kernels/linear/ways/lanes/lanes_dot-inl.h"
//
#include "kernels/linear/ways/lanes/lanes_columns-inl.h"
//
#include "kernels/linear/ways/lanes/lanes_direct_256-inl.h"

constexpr LaneProduct product = {encode, directly_or_in_lanes};
constexpr LaneProduct even_product = {encode, columns};

}  // namespace byte_dots
}  // namespace

const LaneProduct* const lanes_avx_vnni = &byte_dots::product;
const LaneProduct* const lanes_even_avx_vnni = &byte_dots::even_product;

}  // namespace ingot

#undef INGOT_UNROLLED
HWY_POP_ATTRIBUTES

// Few rows of x by weights in lanes (lanes.h), by VPMADDUBSW in chains of 16-bit lanes (word_planes).
HWY_PUSH_ATTRIBUTES("avx2,fma,f16c")

namespace ingot {
namespace {
namespace word_chains {

constexpr SimdTarget code_target = SimdTarget::avx2;

// Each builds on the one before it.
#include "kernels/linear/instructions/unrolled-inl.h"
//
#include "kernels/linear/ways/lanes/lanes_256-inl.h"
//
#include "kernels/linear/ways/lanes/lanes_bytes-inl.h"

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
  static HWY_INLINE Total add_scaled(Total total, __m256i chain, int plane, const float* scales) {
    const __m256i scaled = _mm256_madd_epi16(chain, Lanes::load(scales));
    return _mm256_add_epi32(total, plane == 1 ? _mm256_slli_epi32(scaled, 4) : scaled);
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

#include "kernels/linear/ways/lanes/lanes_unpack-inl.h"
//
#include "kernels/linear/ways/lanes/lanes_unpack_256-inl.h"
//
#include "kernels/linear/ways/lanes/lanes_dot-inl.h"
//
#include "kernels/linear/ways/lanes/lanes_columns-inl.h"
//
#include "kernels/linear/ways/lanes/lanes_direct_256-inl.h"

constexpr LaneProduct product = {encode, directly_or_in_lanes};
constexpr LaneProduct even_product = {encode, columns};

}  // namespace word_chains
}  // namespace

const LaneProduct* const lanes_avx2 = &word_chains::product;
const LaneProduct* const lanes_even_avx2 = &word_chains::even_product;

}  // namespace ingot

#undef INGOT_UNROLLED
HWY_POP_ATTRIBUTES
