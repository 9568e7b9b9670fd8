// bf16 panels multiplied by tiles (TDPBF16PS): 16 rows of weights by 16 rows of x, 32 deep an instruction, into floats.
//
// Two tiles of weights by two of x, so that four loads of a tile feed four products: with four sums these are all the
// eight tiles there are. A product takes 16 cycles, a load 8 from the first-level cache and 16 or more from the second.
// Weights are the left operand because they lie as that one wants it (32 neighbours of a row); so sums are weights by
// x, and are transposed on their way to y.
#include "kernels/linear/ways/bf16_panels/bf16_panels.h"

#include <array>
#include <cstring>

#include "hwy/base.h"
#include "kernels/contract/context.h"
#include "kernels/linear/instructions/avx512_intrinsics.h"
#include "kernels/linear/ways/floats/gemm.h"

HWY_PUSH_ATTRIBUTES("avx2,fma,f16c,avx512f,avx512bw,avx512dq,avx512vl,avx512bf16,amx-tile,amx-bf16")

namespace ingot {
namespace {

// Each builds on the one before it.
#include "kernels/linear/ways/bf16_panels/bf16_panels-inl.h"
//
#include "kernels/linear/ways/bf16_panels/bf16_panels_avx512-inl.h"
//
#include "kernels/linear/instructions/tiles_amx-inl.h"

constexpr TileShapes whole_tiles = [] {
  TileShapes shapes;
  for (int tile = 0; tile < 8; ++tile) {
    shapes.row_bytes[tile] = 64;
    shapes.rows[tile] = 16;
  }
  return shapes;
}();

class TileProduct : public Avx512Bf16Panels {
 public:
  using X = PanelShape<32, 2>;
  using Weights = PanelShape<32, 32>;
  static constexpr std::int64_t least_rows = float_dot_rows + 1;
  // Panels of weights and sums (256 KiB each) stay in the second-level cache.
  static constexpr int depth_block = 1024, columns_at_once = 128, rows_at_once = 512;

  TileProduct() { configure_tiles(whole_tiles); }
  TileProduct(const TileProduct&) = delete;
  TileProduct& operator=(const TileProduct&) = delete;
  ~TileProduct() { release_tiles(); }

  // sums: [half of the weights][half of x], tiles 0 to 3.
  static void add(const std::uint16_t* x, const std::uint16_t* weights, std::int64_t depth, float* sums,
                  const std::uint16_t* ahead) {
    load_tile<0>(sums, 64);
    load_tile<1>(sums + 256, 64);
    load_tile<2>(sums + 512, 64);
    load_tile<3>(sums + 768, 64);
    for (std::int64_t k = 0; k < depth; k += 32, x += 32 * X::rows, weights += 32 * Weights::rows) {
      for (int line = 0; line < lines_ahead<TileProduct>(bf16_longest_step); ++line, ahead += 32)
        __builtin_prefetch(ahead, 0, 2);
      load_tile<4>(weights, 64);
      load_tile<6>(x, 4 * X::rows);
      multiply_bf16_tiles<0, 4, 6>();
      load_tile<7>(x + 32, 4 * X::rows);
      multiply_bf16_tiles<1, 4, 7>();
      load_tile<5>(weights + 16 * 32, 64);
      multiply_bf16_tiles<2, 5, 6>();
      multiply_bf16_tiles<3, 5, 7>();
    }
    store_tile<0>(sums, 64);
    store_tile<1>(sums + 256, 64);
    store_tile<2>(sums + 512, 64);
    store_tile<3>(sums + 768, 64);
  }

  static void store(const float* sums, std::int64_t rows, std::int64_t columns, const float* bias, float* to,
                    std::int64_t stride) {
    for (int n = 0; n < columns; n += 16) {
      const auto used = static_cast<__mmask16>((1u << std::min<std::int64_t>(16, columns - n)) - 1);
      const __m512 added = bias == nullptr ? _mm512_setzero_ps() : _mm512_maskz_loadu_ps(used, bias + n);
      for (int m = 0; m < rows; m += 16) {
        const float* tile = sums + 32 * n + 16 * m;
        __m512i by_row[16];
        for (int i = 0; i < 16; ++i) by_row[i] = _mm512_load_si512(tile + 16 * i);
        transpose(by_row);
        for (std::int64_t i = 0; i < std::min<std::int64_t>(16, rows - m); ++i) {
          _mm512_mask_storeu_ps(to + (m + i) * stride + n, used, _mm512_add_ps(_mm512_castsi512_ps(by_row[i]), added));
        }
      }
    }
  }
};

}  // namespace

const Bf16Product* const bf16_panels_amx = &bf16_product<TileProduct>;

}  // namespace ingot

HWY_POP_ATTRIBUTES
