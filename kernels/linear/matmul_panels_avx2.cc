// Code panels multiplied by VPMADDUBSW in chains of 16-bit lanes (word_planes). VPMADDWD then adds pairs, and
// multiplies by an integer on the way: the scale of a group, or the weight of the upper half of a split code.
#include "kernels/linear/code_panels.h"

#if defined(__x86_64__)
#include <cstring>
#include <type_traits>

#include "hwy/base.h"
#include "kernels/contract/context.h"
#include "kernels/linear/avx512_intrinsics.h"
#include "kernels/linear/gemm.h"
#include "kernels/linear/matmul_interleaved.h"
#include "kernels/linear/unsigned_codes.h"
#include "tensor/block_scales.h"
#include "tensor/interleaved.h"

HWY_PUSH_ATTRIBUTES("avx2,fma,f16c")

namespace ingot {
namespace {

// Each builds on the one before it.
#include "kernels/linear/code_panels-inl.h"
//
#include "kernels/linear/quads_avx2-inl.h"
//
#include "kernels/linear/code_panels_avx2-inl.h"

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

}  // namespace

const PanelProduct* const panels_avx2 = &panel_product<ByteProduct<WordChains>>;

}  // namespace ingot

HWY_POP_ATTRIBUTES

#else

namespace ingot {
const PanelProduct* const panels_avx2 = nullptr;
}  // namespace ingot

#endif
