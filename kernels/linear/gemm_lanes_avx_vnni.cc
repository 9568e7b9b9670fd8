// Few rows of x by weights in lanes (lanes.h), by byte dot products of 256 bits (VPDPBUSD).
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

HWY_PUSH_ATTRIBUTES("avx2,fma,f16c,avxvnni")

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
  static HWY_INLINE __m256i add(__m256i chain, __m256i weights, __m256i x) {
    return _mm256_dpbusd_avx_epi32(chain, weights, x);
  }
  static HWY_INLINE __m256i dot(__m256i weights, __m256i x, std::int32_t correction) {
    const __m256i start = _mm256_zextsi128_si256(_mm_cvtsi32_si128(correction));
    return add(start, _mm256_add_epi8(weights, Lanes::bytes(offset<BlockQ8_0>)), x);
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

const LaneProduct* const lanes_avx_vnni = &product;

}  // namespace ingot

#undef INGOT_UNROLLED
HWY_POP_ATTRIBUTES

#else

namespace ingot {
const LaneProduct* const lanes_avx_vnni = nullptr;
}  // namespace ingot

#endif
