// bf16 panels by registers of 512 bits. Part of a source, after bf16_panels-inl.h.

#include "kernels/linear/instructions/transpose_avx512-inl.h"

struct Avx512Bf16Panels {
  static void round(const float* x, std::int64_t count, std::uint16_t* to) {
    for (std::int64_t i = 0; i < count; i += 16) {
      const auto used = static_cast<__mmask16>((1u << std::min<std::int64_t>(16, count - i)) - 1);
      const __m256i rounded = (__m256i)_mm512_cvtneps_pbh(_mm512_maskz_loadu_ps(used, x + i));
      _mm256_mask_storeu_epi16(to + i, used, rounded);
    }
  }

  // Pairs go by sixteen rows at a time.
  template <class Shape>
  static void lay_out(const PanelRows<Shape>& rows, std::int64_t steps, std::uint16_t* to) {
    if constexpr (Shape::step != 2 || Shape::rows % 16 != 0) {
      copy_steps<Shape>(rows, steps, to);
    } else {
      for (std::int64_t step = 0; step < steps; step += 16) {
        for (int first = 0; first < Shape::rows; first += 16) {
          __m512i pairs[16];
          for (int i = 0; i < 16; ++i) pairs[i] = _mm512_loadu_si512(rows[first + i] + 2 * step);
          transpose(pairs);
          for (int i = 0; i < 16; ++i) _mm512_store_si512(to + 2 * ((step + i) * Shape::rows + first), pairs[i]);
        }
      }
    }
  }
};
