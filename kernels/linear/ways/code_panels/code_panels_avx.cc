// Code panels by registers of 256 bits: one algorithm, two ways of summing four products.
#include "kernels/linear/ways/code_panels/code_panels.h"

#include <cstring>
#include <type_traits>

#include "hwy/base.h"
#include "kernels/contract/context.h"
#include "kernels/linear/instructions/avx512_intrinsics.h"
#include "kernels/linear/instructions/unsigned_codes.h"
#include "kernels/linear/ways/floats/gemm.h"
#include "kernels/linear/ways/interleaved/matmul_interleaved.h"
#include "tensor/block_scales.h"
#include "tensor/interleaved.h"

// Code panels multiplied by byte dot products of 256 bits (VPDPBUSD): an unsigned byte times a signed one, four of them
// into a 32-bit lane.
HWY_PUSH_ATTRIBUTES("avx2,fma,f16c,avxvnni")

namespace ingot {
namespace {
namespace byte_dots {

// Each builds on the one before it.
#include "kernels/linear/ways/code_panels/code_panels-inl.h"
//
#include "kernels/linear/instructions/quads_avx2-inl.h"
//
#include "kernels/linear/ways/code_panels/code_panels_avx2-inl.h"

struct DotChains {
  template <class Block>
  static constexpr CodePlanes planes = dot_planes<Block>;

  static HWY_INLINE __m256i add(__m256i chain, __m256i weights, __m256i x) {
    return _mm256_dpbusd_avx_epi32(chain, weights, x);
  }
  static HWY_INLINE __m256i negative(__m256i chain) { return _mm256_sub_epi32(_mm256_setzero_si256(), chain); }
  static HWY_INLINE __m256i total(__m256i chain) { return chain; }
  static HWY_INLINE __m256i total(__m256i chain, std::int16_t scale) {
    return _mm256_mullo_epi32(chain, _mm256_set1_epi32(scale));
  }
};

}  // namespace byte_dots
}  // namespace

const PanelProduct* const panels_avx_vnni = &byte_dots::panel_product<byte_dots::ByteProduct<byte_dots::DotChains>>;

}  // namespace ingot

HWY_POP_ATTRIBUTES

// Code panels multiplied by VPMADDUBSW in chains of 16-bit lanes (word_planes). VPMADDWD then adds pairs, and
// multiplies by an integer on the way: the scale of a group, or the weight of the upper half of a split code.
HWY_PUSH_ATTRIBUTES("avx2,fma,f16c")

namespace ingot {
namespace {
namespace word_chains {

// Each builds on the one before it.
#include "kernels/linear/ways/code_panels/code_panels-inl.h"
//
#include "kernels/linear/instructions/quads_avx2-inl.h"
//
#include "kernels/linear/ways/code_panels/code_panels_avx2-inl.h"

struct WordChains {
  template <class Block>
  static constexpr CodePlanes planes = word_planes<Block>;

  static HWY_INLINE __m256i add(__m256i chain, __m256i weights, __m256i x) {
    return _mm256_add_epi16(chain, _mm256_maddubs_epi16(weights, x));
  }
  static HWY_INLINE __m256i negative(__m256i chain) { return _mm256_sub_epi16(_mm256_setzero_si256(), chain); }
  static HWY_INLINE __m256i total(__m256i chain) { return total(chain, 1); }
  static HWY_INLINE __m256i total(__m256i chain, std::int16_t scale) {
    return _mm256_madd_epi16(chain, _mm256_set1_epi16(scale));
  }
};

}  // namespace word_chains
}  // namespace

const PanelProduct* const panels_avx2 = &word_chains::panel_product<word_chains::ByteProduct<word_chains::WordChains>>;

}  // namespace ingot

HWY_POP_ATTRIBUTES
