// bf16 panels multiplied by VDPBF16PS: lane j sums the products of a pair of x, which a broadcast brings to all lanes,
// and a pair of weights of row j.
//
// A tile is twelve rows of x by 32 of weights: 24 sums, two registers of weights and broadcasts fit 32. The instruction
// takes 6 cycles at the most and two start each cycle at the best, so 12 sums are the least. On a Sapphire Rapids core
// one starts every second cycle, which is no faster than products of floats; that one has tiles.
#include "kernels/linear/ways/bf16_panels/bf16_panels.h"

#include <array>
#include <cstring>
#include <utility>

#include "hwy/base.h"
#include "kernels/contract/context.h"
#include "kernels/linear/instructions/avx512_intrinsics.h"
#include "kernels/linear/ways/floats/gemm.h"

HWY_PUSH_ATTRIBUTES("avx2,fma,f16c,avx512f,avx512bw,avx512dq,avx512vl,avx512bf16")

namespace ingot {
namespace {

// Each builds on the one before it.
#include "kernels/linear/ways/bf16_panels/bf16_panels-inl.h"
//
#include "kernels/linear/ways/bf16_panels/bf16_panels_avx512-inl.h"
//
#include "kernels/linear/instructions/unrolled-inl.h"

struct LaneProduct : Avx512Bf16Panels {
  using X = PanelShape<12, 2>;
  using Weights = PanelShape<32, 2>;
  static constexpr std::int64_t least_rows = float_dot_rows + 1;
  // A panel of x (12 KiB) stays in the first-level cache, those of weights (128 KiB) in the second-level one.
  static constexpr int depth_block = 512, columns_at_once = 128, rows_at_once = 576;

  static HWY_INLINE __m512bh load(const std::uint16_t* from) { return (__m512bh)_mm512_load_si512(from); }
  static HWY_INLINE __m512bh pair_everywhere(const std::uint16_t* from) {
    std::int32_t pair;
    std::memcpy(&pair, from, sizeof(pair));
    return (__m512bh)_mm512_set1_epi32(pair);
  }

  static void add(const std::uint16_t* x, const std::uint16_t* weights, std::int64_t depth, float* sums,
                  const std::uint16_t* ahead) {
    __m512 totals[X::rows][2];
    unrolled<X::rows>(INGOT_UNROLLED(i) {
      totals[i][0] = _mm512_load_ps(sums + 32 * i);
      totals[i][1] = _mm512_load_ps(sums + 32 * i + 16);
    });
    for (std::int64_t k = 0; k < depth; k += 2, x += 2 * X::rows, weights += 2 * Weights::rows) {
      if (k % bf16_longest_step == 0) {
        for (int line = 0; line < lines_ahead<LaneProduct>(bf16_longest_step); ++line, ahead += 32)
          __builtin_prefetch(ahead, 0, 2);
      }
      const __m512bh first = load(weights), second = load(weights + 32);
      unrolled<X::rows>(INGOT_UNROLLED(i) {
        const __m512bh of_x = pair_everywhere(x + 2 * i);
        totals[i][0] = _mm512_dpbf16_ps(totals[i][0], of_x, first);
        totals[i][1] = _mm512_dpbf16_ps(totals[i][1], of_x, second);
      });
    }
    unrolled<X::rows>(INGOT_UNROLLED(i) {
      _mm512_store_ps(sums + 32 * i, totals[i][0]);
      _mm512_store_ps(sums + 32 * i + 16, totals[i][1]);
    });
  }

  static void store(const float* sums, std::int64_t rows, std::int64_t columns, const float* bias, float* to,
                    std::int64_t stride) {
    for (int j = 0; j < columns; j += 16) {
      const auto used = static_cast<__mmask16>((1u << std::min<std::int64_t>(16, columns - j)) - 1);
      const __m512 added = bias == nullptr ? _mm512_setzero_ps() : _mm512_maskz_loadu_ps(used, bias + j);
      for (std::int64_t row = 0; row < rows; ++row) {
        _mm512_mask_storeu_ps(to + row * stride + j, used, _mm512_add_ps(_mm512_load_ps(sums + 32 * row + j), added));
      }
    }
  }
};

}  // namespace

const Bf16Product* const bf16_panels_avx512 = &bf16_product<LaneProduct>;

}  // namespace ingot

#undef INGOT_UNROLLED
HWY_POP_ATTRIBUTES
