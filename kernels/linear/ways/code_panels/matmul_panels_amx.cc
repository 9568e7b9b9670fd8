// Code panels multiplied by tiles (TDPBSSD): 16 rows of weights by 16 rows of x, 32 or 64 deep an instruction, signed
// bytes into 32-bit sums.
//
// A tile cannot be read from registers: its sums go through the first-level cache, and become floats while the next
// tiles are multiplied. On a Sapphire Rapids core an instruction takes 12 (32 deep) to 15 cycles (64 deep), a tile's
// way through the cache 13, and scales for 16 x 16 sums 22; they hardly overlap. Formats of 32 elements have a scale
// every 32 and pay that each time; formats of 256 pay it every 256.
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

HWY_PUSH_ATTRIBUTES("avx2,fma,f16c,avx512f,avx512bw,avx512dq,avx512vl,amx-tile,amx-int8")

namespace ingot {
namespace {

#include "kernels/linear/ways/code_panels/code_panels-inl.h"
// Builds on it.
#include "kernels/linear/instructions/tiles_amx-inl.h"
#include "kernels/linear/ways/code_panels/code_panels_avx512-inl.h"

// Tiles 0 to 3 are sums, 4 and 5 weights, 6 and 7 panels of x.
constexpr TileShapes tiles_for_depth(int depth) {
  TileShapes shapes;
  for (int tile = 0; tile < 8; ++tile) {
    const bool weights = tile == 4 || tile == 5;
    shapes.row_bytes[tile] = static_cast<std::uint16_t>(weights ? depth : 64);
    shapes.rows[tile] = static_cast<std::uint8_t>(tile >= 6 ? depth / 4 : 16);
  }
  return shapes;
}
constexpr TileShapes shapes_32 = tiles_for_depth(32);
constexpr TileShapes shapes_64 = tiles_for_depth(64);

// sums[i] += (products[i] * x scales) * weight scale i
HWY_INLINE void add_scaled(const std::int32_t (&products)[16][16], __m512 x_scales, const float* weight_scales,
                           std::int64_t stride, __m512 (&sums)[16]) {
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) {
    // Not the product of both scales first: it may lie below the normal range where the sum does not.
    const __m512 product = _mm512_mul_ps(_mm512_cvtepi32_ps(_mm512_load_si512(products[i])), x_scales);
    sums[i] = _mm512_fmadd_ps(product, _mm512_set1_ps(weight_scales[i * stride]), sums[i]);
  }
}

class TileProduct : public Avx512Panels {
 public:
  ~TileProduct() {
    if (configured_depth_ != 0) release_tiles();
  }

  void prepare(const WeightPanel32&, std::int64_t) { configure(shapes_32, 32); }
  void prepare(const WeightPanel256&, std::int64_t) { configure(shapes_64, 64); }

  // Two blocks at a time, one pair ahead of the scales.
  void add(const WeightPanel32& weights, std::int64_t blocks, const ActivationPart& x, PanelWorkspace& workspace,
           PanelSums& sums) {
    __m512 totals[16];
    for (int i = 0; i < 16; ++i) totals[i] = _mm512_load_ps(sums[i]);
    auto multiply = [&]<int tile>(std::int64_t b) __attribute__((always_inline)) {
      constexpr int left = 4 + tile % 2;
      constexpr int right = 6 + tile % 2;
      zero_tile<tile>();
      load_tile<left>(weights.codes[0] + b * 32, sizeof(weights.codes[0]));
      load_tile<right>(x.codes + b * 32 * panel_rows, 64);
      multiply_tiles<tile, left, right>();
    };
    auto scale = [&]<int tile>(std::int64_t b) __attribute__((always_inline)) {
      add_scaled(workspace.products[tile], _mm512_load_ps(x.scales + b * panel_rows), &weights.scales[0][b],
                 panel_depth / 32, totals);
    };
    // Scales the pair of blocks at b, whose sums stand in two tiles from `now` on; multiplies the next into `then`.
    auto step = [&]<int now, int then>(std::int64_t b, bool more) __attribute__((always_inline)) {
      if (more) multiply.template operator()<then>(b + 2);
      store_tile<now>(workspace.products[now], 64);
      if (more) multiply.template operator()<then + 1>(b + 3);
      store_tile<now + 1>(workspace.products[now + 1], 64);
      scale.template operator()<now>(b);
      scale.template operator()<now + 1>(b + 1);
    };
    multiply.template operator()<0>(0);
    multiply.template operator()<1>(1);
    for (std::int64_t b = 0; b < blocks; b += 4) {
      step.template operator()<0, 2>(b, b + 2 < blocks);
      if (b + 2 < blocks) step.template operator()<2, 0>(b + 2, b + 4 < blocks);
    }
    for (int i = 0; i < 16; ++i) _mm512_store_ps(sums[i], totals[i]);
  }

  // A block's two planes into two tiles, alternating between two pairs of tiles.
  void add(const WeightPanel256& weights, std::int64_t blocks, const ActivationPart& x, PanelWorkspace& workspace,
           PanelSums& sums) {
    __m512 totals[16];
    for (int i = 0; i < 16; ++i) totals[i] = _mm512_load_ps(sums[i]);
    for (std::int64_t b = 0; b < blocks; b += 2) {  // the scales of a block come after the next one's tiles
      multiply_block<0>(weights, b, x.codes, workspace);
      if (b > 0) scale_block<1>(weights, b - 1, x.scales, workspace, totals);
      if (b + 1 < blocks) multiply_block<1>(weights, b + 1, x.codes, workspace);
      scale_block<0>(weights, b, x.scales, workspace, totals);
    }
    if (blocks % 2 == 0 && blocks > 0) scale_block<1>(weights, blocks - 1, x.scales, workspace, totals);
    for (int i = 0; i < 16; ++i) _mm512_store_ps(sums[i], totals[i]);
  }

 private:
  template <int pair>
  static HWY_INLINE void multiply_block(const WeightPanel256& weights, std::int64_t b, const std::int8_t* x,
                                        PanelWorkspace& workspace) {
    constexpr std::int64_t stride = sizeof(weights.lower[0]);
    zero_tile<2 * pair>();
    zero_tile<2 * pair + 1>();
    const std::int8_t* lower = weights.lower[0] + 256 * b;
    const std::int8_t* upper = weights.upper[0] + 256 * b;
    x += b * 256 * panel_rows;
#pragma GCC unroll 4
    for (int at = 0; at < 256; at += 64) {
      load_tile<6 + pair>(x + at * panel_rows, 64);
      load_tile<4>(lower + at, stride);
      multiply_tiles<2 * pair, 4, 6 + pair>();
      load_tile<5>(upper + at, stride);
      multiply_tiles<2 * pair + 1, 5, 6 + pair>();
    }
    store_tile<2 * pair>(workspace.products[2 * pair], 64);
    store_tile<2 * pair + 1>(workspace.products[2 * pair + 1], 64);
  }

  template <int pair>
  static HWY_INLINE void scale_block(const WeightPanel256& weights, std::int64_t b, const float* x_scales,
                                     const PanelWorkspace& workspace, __m512 (&totals)[16]) {
    const __m512 scales = _mm512_load_ps(x_scales + b * panel_rows);
    const auto& lower = workspace.products[2 * pair];
    const auto& upper = workspace.products[2 * pair + 1];
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) {
      const __m512i whole =
          _mm512_add_epi32(_mm512_slli_epi32(_mm512_load_si512(upper[i]), 7), _mm512_load_si512(lower[i]));
      totals[i] = _mm512_fmadd_ps(_mm512_mul_ps(_mm512_cvtepi32_ps(whole), scales),
                                  _mm512_set1_ps(weights.scales[i][b]), totals[i]);
    }
  }

  void configure(const TileShapes& shapes, int depth) {
    if (configured_depth_ == depth) return;
    configure_tiles(shapes);
    configured_depth_ = depth;
  }

  int configured_depth_ = 0;
};

}  // namespace

const PanelProduct* const panels_amx = &panel_product<TileProduct>;

}  // namespace ingot

HWY_POP_ATTRIBUTES
