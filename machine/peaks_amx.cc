// Peak loops of tile instructions. Four sums of two tiles by two: an instruction that multiplies whole tiles starts
// every 16 cycles and takes 52, so that four in turn leave the unit no pause.
#if defined(__x86_64__)

#include <immintrin.h>

#include "machine/peak_loops.h"

namespace ingot {
namespace {

constexpr int tile_rows = 16;
constexpr int tile_row_bytes = 64;
constexpr double tiles_at_once = 4;
constexpr double two = 2;  // a multiply and an add

// As LDTILECFG reads it: palette 1, then eight rows of bytes as 16-bit numbers from 16 on, eight counts from 48 on.
// Constant, because GCC 12's intrinsics do not tell the compiler that they read memory.
struct alignas(64) TileShapes {
  std::uint8_t bytes[64] = {};
  constexpr TileShapes() {
    bytes[0] = 1;
    for (int tile = 0; tile < 8; ++tile) {
      bytes[16 + 2 * tile] = tile_row_bytes;
      bytes[48 + tile] = tile_rows;
    }
  }
};
constexpr TileShapes shapes;

struct alignas(64) Ones {
  std::uint16_t values[tile_rows * tile_row_bytes / 2] = {};
  explicit constexpr Ones(std::uint16_t one) {
    for (std::uint16_t& value : values) value = one;
  }
};
constexpr Ones bytes_of_one(0x0101);
constexpr Ones bf16_of_one(0x3f80);

__attribute__((target("amx-tile"))) void start_tiles(const Ones& ones) {
  _tile_loadconfig(&shapes);
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  _tile_loadd(4, ones.values, tile_row_bytes);
  _tile_loadd(5, ones.values, tile_row_bytes);
  _tile_loadd(6, ones.values, tile_row_bytes);
  _tile_loadd(7, ones.values, tile_row_bytes);
}

// The first number of the first sum.
template <class Number>
__attribute__((target("amx-tile"))) double finish_tiles() {
  alignas(64) Number sums[tile_rows * tile_row_bytes / sizeof(Number)];
  _tile_stored(0, sums, tile_row_bytes);
  _tile_release();
  return sums[0];
}

__attribute__((target("amx-tile,amx-int8"))) double matrix_amx_int8(std::int64_t rounds) {
  start_tiles(bytes_of_one);
  for (std::int64_t round = 0; round < rounds; ++round) {
    _tile_dpbssd(0, 4, 6);
    _tile_dpbssd(1, 4, 7);
    _tile_dpbssd(2, 5, 6);
    _tile_dpbssd(3, 5, 7);
  }
  return finish_tiles<std::int32_t>();
}

__attribute__((target("amx-tile,amx-bf16"))) double matrix_amx_bf16(std::int64_t rounds) {
  start_tiles(bf16_of_one);
  for (std::int64_t round = 0; round < rounds; ++round) {
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
  return finish_tiles<float>();
}

constexpr double products_of_bytes = tile_rows * tile_rows * tile_row_bytes;

}  // namespace

ComputeLoop int8_tile_loop() { return {matrix_amx_int8, tiles_at_once * products_of_bytes * two}; }
ComputeLoop bf16_tile_loop() { return {matrix_amx_bf16, tiles_at_once * products_of_bytes / 2 * two}; }

}  // namespace ingot

#endif
