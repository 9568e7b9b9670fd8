// Plain bytes multiplied by tiles (TDPBSSD): 16 rows of weights by 16 rows of x, 64 deep an instruction, signed bytes
// into 32-bit sums. Two tiles of each make four products of four loads.
#include "kernels/linear/int8/int8_tiles.h"

#include <cstring>

#include "hwy/base.h"
#include "kernels/linear/instructions/avx512_intrinsics.h"

HWY_PUSH_ATTRIBUTES("avx2,fma,f16c,avx512f,avx512bw,avx512dq,avx512vl,amx-tile,amx-int8")

namespace ingot {
namespace {

// Each builds on the one before it.
#include "kernels/linear/int8/int8_tiles-inl.h"
//
#include "kernels/linear/instructions/transpose_avx512-inl.h"
//
#include "kernels/linear/int8/int8_codes_avx2-inl.h"
//
#include "kernels/linear/int8/int8_tiles_avx512-inl.h"
//
#include "kernels/linear/instructions/tiles_amx-inl.h"

// Tiles 0 to 3 are sums, 4 and 5 weights, 6 and 7 panels of x: all are 16 rows of 64 bytes.
constexpr TileShapes whole_tiles() {
  TileShapes shapes;
  for (int tile = 0; tile < 8; ++tile) {
    shapes.row_bytes[tile] = 64;
    shapes.rows[tile] = 16;
  }
  return shapes;
}
constexpr TileShapes shapes = whole_tiles();

struct MatrixTiles : WideTiles {
  static constexpr std::uint32_t x_offset = 0;
  static constexpr int x_panels = 2, weight_panels = 2;

  MatrixTiles() { configure_tiles(shapes); }
  ~MatrixTiles() { release_tiles(); }

  static void add(const TileStep<Panel>& step) {
    if (step.weight_panels == 2) {
      step.x_panels == 2 ? add_panels<2, 2>(step) : add_panels<2, 1>(step);
    } else {
      step.x_panels == 2 ? add_panels<1, 2>(step) : add_panels<1, 1>(step);
    }
  }

 private:
  template <int weight_count, int x_count>
  static HWY_INLINE void add_panels(const TileStep<Panel>& step) {
    constexpr std::int64_t row_bytes = sizeof(step.weights->codes[0]);
    for_sums<weight_count, x_count>([&]<int w, int p>() __attribute__((always_inline)) {
      load_tile<2 * w + p>(step.sums[w * panels_at_once + p], 64);
    });
    for (std::int64_t at = 0; at < step.bytes; at += 64) {
      const std::int8_t* x = step.x + at * panel_rows;
      load_tile<4>(step.weights[0].codes[0] + at, row_bytes);
      load_tile<6>(x, 64);
      if constexpr (x_count == 2) load_tile<7>(x + step.panel_bytes, 64);
      if constexpr (weight_count == 2) load_tile<5>(step.weights[1].codes[0] + at, row_bytes);
      for_sums<weight_count, x_count>(
          []<int w, int p>() __attribute__((always_inline)) { multiply_tiles<2 * w + p, 4 + w, 6 + p>(); });
    }
    for_sums<weight_count, x_count>([&]<int w, int p>() __attribute__((always_inline)) {
      store_tile<2 * w + p>(step.sums[w * panels_at_once + p], 64);
    });
  }

  template <int weight_count, int x_count, class Function>
  static HWY_INLINE void for_sums(Function function) {
    function.template operator()<0, 0>();
    if constexpr (x_count == 2) function.template operator()<0, 1>();
    if constexpr (weight_count == 2) function.template operator()<1, 0>();
    if constexpr (weight_count == 2 && x_count == 2) function.template operator()<1, 1>();
  }
};

}  // namespace

const Int8Entry int8_tiles_amx = tile_entry<MatrixTiles>;

}  // namespace ingot

HWY_POP_ATTRIBUTES
