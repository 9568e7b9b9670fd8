// Code panels multiplied by byte dot products (VPDPBUSD): an unsigned byte times a signed one, four of them into a
// 32-bit lane. Lane j is row j of x, made unsigned by an offset; four codes of a weight row reach all lanes by a
// broadcast that costs nothing. What the offset adds is known from the weights alone.
#include "kernels/linear/ways/code_panels/code_panels.h"

#include <cstring>
#include <type_traits>

#include "hwy/base.h"
#include "kernels/contract/context.h"
#include "kernels/linear/instructions/avx512_intrinsics.h"
#include "kernels/linear/ways/floats/gemm.h"
#include "kernels/linear/ways/interleaved/matmul_interleaved.h"
#include "tensor/block_scales.h"
#include "tensor/interleaved.h"

HWY_PUSH_ATTRIBUTES("avx2,fma,f16c,avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")

namespace ingot {
namespace {

#include "kernels/linear/ways/code_panels/code_panels-inl.h"
// Builds on it.
#include "kernels/linear/instructions/multiply_avx512_vnni-inl.h"
#include "kernels/linear/ways/code_panels/code_panels_avx512-inl.h"

// -offset * (the sum of the codes), for a multiple of 32 of them.
HWY_INLINE std::int32_t correction(const std::int8_t* codes, int count) {
  __m256i sums = _mm256_setzero_si256();
  for (int i = 0; i < count; i += 32) {
    const __m256i loaded = _mm256_load_si256(reinterpret_cast<const __m256i*>(codes + i));
    sums = _mm256_dpbusd_epi32(sums, _mm256_set1_epi8(1), loaded);
  }
  const __m128i half = _mm_add_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
  const __m128i quarter = _mm_add_epi32(half, _mm_shuffle_epi32(half, 0x4e));
  return -offset * _mm_cvtsi128_si32(_mm_add_epi32(quarter, _mm_shuffle_epi32(quarter, 0xb1)));
}

// sum + (product * x scales) * weight scale
HWY_INLINE __m512 add_scaled(__m512 sum, __m512i product, __m512 x_scales, float weight_scale) {
  // Not the product of both scales first: it may lie below the normal range where the sum does not.
  return _mm512_fmadd_ps(_mm512_mul_ps(_mm512_cvtepi32_ps(product), x_scales), _mm512_set1_ps(weight_scale), sum);
}

class ByteProduct : public Avx512Panels {
 public:
  void prepare(const WeightPanel32& weights, std::int64_t blocks) {
    for (int row = 0; row < panel_rows; ++row) {
      for (std::int64_t b = 0; b < blocks; ++b) corrections_[row][b] = correction(weights.codes[row] + 32 * b, 32);
    }
  }
  void prepare(const WeightPanel256& weights, std::int64_t blocks) {
    for (int row = 0; row < panel_rows; ++row) {
      for (std::int64_t b = 0; b < blocks; ++b) {
        corrections_[row][b] =
            correction(weights.lower[row] + 256 * b, 256) + 128 * correction(weights.upper[row] + 256 * b, 256);
      }
    }
  }

  void add(const WeightPanel32& weights, std::int64_t blocks, const ActivationPart& x, PanelWorkspace&,
           PanelSums& sums) const {
    __m512 totals[panel_rows];
    for (int i = 0; i < panel_rows; ++i) totals[i] = _mm512_load_ps(sums[i]);
    for (std::int64_t b = 0; b < blocks; ++b) {
      const UnsignedRows rows(x.codes + b * 32 * panel_rows);
      const __m512 scales = _mm512_load_ps(x.scales + b * panel_rows);
#pragma GCC unroll 16
      for (int i = 0; i < panel_rows; ++i) {
        const __m512i product = rows.multiply(weights.codes[i] + 32 * b, _mm512_set1_epi32(corrections_[i][b]));
        totals[i] = add_scaled(totals[i], product, scales, weights.scales[i][b]);
      }
    }
    for (int i = 0; i < panel_rows; ++i) _mm512_store_ps(sums[i], totals[i]);
  }

  // Eight rows of weights at a time: their two planes and a part of x take 24 registers.
  void add(const WeightPanel256& weights, std::int64_t blocks, const ActivationPart& x, PanelWorkspace&,
           PanelSums& sums) const {
    for (std::int64_t b = 0; b < blocks; ++b) {
      const __m512 scales = _mm512_load_ps(x.scales + b * panel_rows);
      for (int first = 0; first < panel_rows; first += 8) {
        __m512i lower[8];
        __m512i upper[8];
        for (int i = 0; i < 8; ++i) {
          lower[i] = _mm512_set1_epi32(corrections_[first + i][b]);
          upper[i] = _mm512_setzero_si512();
        }
        for (int at = 0; at < 256; at += 32) {
          const UnsignedRows rows(x.codes + (256 * b + at) * panel_rows);
#pragma GCC unroll 8
          for (int i = 0; i < 8; ++i) {
            lower[i] = rows.multiply(weights.lower[first + i] + 256 * b + at, lower[i]);
            upper[i] = rows.multiply(weights.upper[first + i] + 256 * b + at, upper[i]);
          }
        }
        for (int i = 0; i < 8; ++i) {
          const __m512i whole = _mm512_add_epi32(_mm512_slli_epi32(upper[i], 7), lower[i]);
          float* sum = sums[first + i];
          _mm512_store_ps(sum, add_scaled(_mm512_load_ps(sum), whole, scales, weights.scales[first + i][b]));
        }
      }
    }
  }

 private:
  std::int32_t corrections_[panel_rows][panel_depth / 32];
};

}  // namespace

const PanelProduct* const panels_avx512_vnni = &panel_product<ByteProduct>;

}  // namespace ingot

HWY_POP_ATTRIBUTES
