// Code panels in registers of 512 bits: four codes of a row of x together, weights as planes of bytes. Part of a
// source, after code_panels-inl.h.

#include "kernels/linear/instructions/transpose_avx512-inl.h"

struct Avx512Panels {
  static constexpr SimdTarget target = SimdTarget::avx512;
  template <class Block>
  using Panel = std::conditional_t<Block::elements == 32, WeightPanel32, WeightPanel256>;

  static HWY_INLINE float half_value(StoredHalf half) { return _cvtsh_ss(half.bits()); }

  template <class Block>
  static HWY_INLINE void place(const PanelStep& codes, int at, const ActivationPart& to) {
    __m512i quads[panel_rows];
    for (int row = 0; row < panel_rows; ++row) quads[row] = _mm512_load_si512(codes[row] + at);
    transpose(quads);
    for (int i = 0; i < 16; ++i) _mm512_store_si512(to.codes + 64 * i, quads[i]);
  }

  template <class Block>
  static void finish_codes(std::int64_t, int, WeightPanel32&) {}

  template <class Block>
  static void scale_codes(const std::int8_t (&codes)[256], const std::int16_t (&scales)[16], std::int64_t b, int row,
                          WeightPanel256& panel) {
    for (int at = 0; at < 256; at += 32) {
      const __m512i wide = _mm512_cvtepi8_epi16(_mm256_load_si256(reinterpret_cast<const __m256i*>(codes + at)));
      const __m256i first = _mm256_set1_epi16(scales[at / 16]);
      const __m256i second = _mm256_set1_epi16(scales[at / 16 + 1]);
      const __m512i product = _mm512_mullo_epi16(wide, _mm512_inserti64x4(_mm512_castsi256_si512(first), second, 1));
      auto store = [](std::int8_t* to, __m512i words) {
        _mm256_store_si256(reinterpret_cast<__m256i*>(to), _mm512_cvtepi16_epi8(words));
      };
      store(panel.lower[row] + 256 * b + at, _mm512_and_si512(product, _mm512_set1_epi16(127)));
      store(panel.upper[row] + 256 * b + at, _mm512_srai_epi16(product, 7));
    }
  }

  template <class Panel>
  static HWY_INLINE void subtract_minimums(const Panel& panel, std::int64_t groups, const float* scaled_sums,
                                           PanelSums& sums) {
    __m512 totals[panel_rows];
    for (int row = 0; row < panel_rows; ++row) totals[row] = _mm512_load_ps(sums[row]);
    for (std::int64_t g = 0; g < groups; ++g) {
      const __m512 x = _mm512_load_ps(scaled_sums + g * panel_rows);
#pragma GCC unroll 16
      for (int row = 0; row < panel_rows; ++row) {
        totals[row] = _mm512_fnmadd_ps(_mm512_set1_ps(panel.minimums[row][g]), x, totals[row]);
      }
    }
    for (int row = 0; row < panel_rows; ++row) _mm512_store_ps(sums[row], totals[row]);
  }

  static void store(const PanelSums& sums, std::int64_t rows, std::int64_t columns, const float* bias, float* to,
                    std::int64_t stride) {
    const auto used = static_cast<__mmask16>((1u << columns) - 1);
    const __m512 added = bias == nullptr ? _mm512_setzero_ps() : _mm512_maskz_loadu_ps(used, bias);
    __m512i by_row[panel_rows];
    for (int i = 0; i < panel_rows; ++i) by_row[i] = _mm512_load_si512(sums[i]);
    transpose(by_row);
    for (std::int64_t i = 0; i < rows; ++i) {
      _mm512_mask_storeu_ps(to + i * stride, used, _mm512_add_ps(_mm512_castsi512_ps(by_row[i]), added));
    }
  }
};
