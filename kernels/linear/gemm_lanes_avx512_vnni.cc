// Few rows of x by weights in lanes (lanes.h), by byte dot products of 512 bits (VPDPBUSD), to which a broadcast of
// four codes of x costs nothing.
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

HWY_PUSH_ATTRIBUTES("avx2,fma,f16c,avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")

namespace ingot {
namespace {

constexpr SimdTarget code_target = SimdTarget::avx512;

// Each builds on the one before it.
#include "kernels/linear/unrolled-inl.h"
//
#include "kernels/linear/lanes_512-inl.h"
//
#include "kernels/linear/lanes_bytes-inl.h"

struct Bytes : DotBytes {
  static constexpr int rows = 8;  // a sum of integers and one of floats each, of 32 registers
  static HWY_INLINE __m512i add(__m512i chain, __m512i weights, __m512i x) {
    return _mm512_dpbusd_epi32(chain, weights, x);
  }
};

#include "kernels/linear/lanes_unpack-inl.h"
//
#include "kernels/linear/lanes_unpack_256-inl.h"
//
#include "kernels/linear/lanes_dot-inl.h"
//
#include "kernels/linear/lanes_columns-inl.h"

constexpr LaneProduct product = {encode, columns};

}  // namespace

const LaneProduct* const lanes_avx512_vnni = &product;

}  // namespace ingot

#undef INGOT_UNROLLED
HWY_POP_ATTRIBUTES

#else

namespace ingot {
const LaneProduct* const lanes_avx512_vnni = nullptr;
}  // namespace ingot

#endif
