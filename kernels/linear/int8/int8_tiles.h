// Products of many rows of plain bytes, on the panels and register tiles of block formats (code_panels.h). Without
// scales in between, sums stay integers over the whole depth:
//
//   x        panels of 16 rows, the whole depth, made once a call
//   weights  panels of 16 rows, int8_depth bytes at a time, made by the thread that multiplies them; four of them meet
//            a panel of x while it is in the first-level cache
//
// Unsigned codes become signed by an offset of 128, and so do their zero points: one product serves all four mixes.
#pragma once

#include "kernels/linear/int8/int8_matmul.h"
#include "kernels/linear/ways/code_panels/code_panels.h"

namespace ingot {

// Up to this many rows are multiplied by dot products, which read weights as they lie.
inline constexpr std::int64_t int8_dot_rows = 4;
inline bool has_few_int8_rows(const Int8Matmul::Arguments& a) { return a.x.size(0) <= int8_dot_rows; }
inline bool has_many_int8_rows(const Int8Matmul::Arguments& a) { return a.x.size(0) > int8_dot_rows; }

// A panel of x this deep is 16 KiB: it stays in a first-level cache while panels of weights stream by from the second.
inline constexpr int int8_depth = 1024;
inline constexpr int weight_panels_at_once = 4;

// What makes bytes of a type signed codes, by exclusive or; their zero points move along.
inline std::uint8_t sign_flip(DType dtype) { return dtype == DType::u8 ? 0x80 : 0; }
inline std::int32_t signed_zero(const View<const std::int32_t>& zeros, std::int64_t row, DType dtype) {
  return per_row(zeros, row) - sign_flip(dtype);
}

// x as signed codes, and the sum of each row's. The depth is padded with zeros to whole steps of 64 bytes.
struct Int8Panels {
  std::byte* data;
  std::int64_t panels;
  std::int64_t row_bytes;

  Int8Panels(std::byte* place, const Int8Matmul::Arguments& a, int code_bytes)
      : data(place),
        panels(divide_rounding_up(a.x.size(0), panel_rows)),
        row_bytes(divide_rounding_up(a.x.size(1) * code_bytes, 64) * 64) {}

  std::int64_t panel_bytes() const { return row_bytes * panel_rows; }
  std::int8_t* codes(std::int64_t panel) const { return reinterpret_cast<std::int8_t*>(data + panel * panel_bytes()); }
  std::uint32_t* sums() const { return reinterpret_cast<std::uint32_t*>(data + panels * panel_bytes()); }
  std::size_t bytes() const { return static_cast<std::size_t>(panels * (panel_bytes() + 4 * panel_rows)); }
};

// A variant, and what it needs besides.
struct Int8Entry {
  void (*run)(const Int8Matmul::Arguments&, Context&) = nullptr;
  std::size_t (*scratch_bytes)(const Int8Matmul::Arguments&, int threads) = nullptr;
};
// Empty on other architectures.
extern const Int8Entry int8_tiles_amx;
extern const Int8Entry int8_tiles_avx512_vnni;
extern const Int8Entry int8_tiles_avx_vnni;
extern const Int8Entry int8_tiles_avx2;
extern const Int8Entry int8_tiles_neon_i8mm;
extern const Int8Entry int8_tiles_neon_dotprod;
extern const Int8Entry int8_dot_avx512_vnni;
extern const Int8Entry int8_dot_neon_dotprod;

}  // namespace ingot
