// Few rows of activations and weights in a block format, with byte dot products (VPDPBUSD): an unsigned byte of the
// left times a signed byte of the right, four of them into a 32-bit lane. Weights are made unsigned by an offset, whose
// share of the sum is known from the activations alone, so every sum is the exact integer of the contract.
#include "kernels/linear/ways/dots/coded_spans.h"
#include "kernels/linear/ways/floats/gemm.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>
#include <utility>

#include "hwy/base.h"
#include "kernels/linear/instructions/avx512_intrinsics.h"
#include "kernels/linear/instructions/group_words.h"
#include "tensor/block_scales.h"

HWY_PUSH_ATTRIBUTES("avx2,fma,f16c,avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")

namespace ingot {
namespace {

constexpr SimdTarget code_target = SimdTarget::avx512;
constexpr std::int64_t code_chunk_bytes = 64 << 10;

// Each builds on the one before it.
#include "kernels/linear/instructions/unrolled-inl.h"
//
#include "kernels/linear/ways/dots/codes_32_avx512_vnni-inl.h"
//
#include "kernels/linear/ways/dots/codes_256_avx512_vnni-inl.h"

// -offset * (the sum of each four codes)
HWY_INLINE __m512i correction(__m512i sum, const std::int8_t (&codes)[64], int offset) {
  const __m512i offsets = _mm512_set1_epi8(static_cast<char>(offset));
  return _mm512_sub_epi32(sum, _mm512_dpbusd_epi32(_mm512_setzero_si512(), offsets, _mm512_load_si512(codes)));
}

HWY_INLINE void correct(CodedSpan32& span, int offset) {
  const __m512i first = correction(_mm512_setzero_si512(), span.codes[0], offset);
  _mm512_store_si512(span.corrections, correction(first, span.codes[1], offset));
}

HWY_INLINE void correct(CodedSpan256& span, int offset) {
  for (int i = 0; i < 4; ++i) {
    _mm512_store_si512(span.corrections[i], correction(_mm512_setzero_si512(), span.codes[i], offset));
  }
}

// They call what stands above.
#include "kernels/linear/ways/dots/coded_spans-inl.h"
//
#include "kernels/linear/ways/dots/gemm_codes-inl.h"

}  // namespace

const DotProduct* const gemm_codes_avx512_vnni = &product;

}  // namespace ingot

#undef INGOT_UNROLLED
HWY_POP_ATTRIBUTES
