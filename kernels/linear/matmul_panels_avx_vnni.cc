// Code panels multiplied by byte dot products of 256 bits (VPDPBUSD): an unsigned byte times a signed one, four of them
// into a 32-bit lane.
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

HWY_PUSH_ATTRIBUTES("avx2,fma,f16c,avxvnni")

namespace ingot {
namespace {

// Each builds on the one before it.
#include "kernels/linear/code_panels-inl.h"
//
#include "kernels/linear/quads_avx2-inl.h"
//
#include "kernels/linear/code_panels_avx2-inl.h"

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

}  // namespace

const PanelProduct* const panels_avx_vnni = &panel_product<ByteProduct<DotChains>>;

}  // namespace ingot

HWY_POP_ATTRIBUTES

#else

namespace ingot {
const PanelProduct* const panels_avx_vnni = nullptr;
}  // namespace ingot

#endif
