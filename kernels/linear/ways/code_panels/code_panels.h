// Products of many rows of x with weights in a block format, on panels of 8-bit codes:
//
//   x        panels of 16 rows, the whole depth, made once a call; a few codes of a row lie together (four, or eight:
//            what the machine's instructions sum into a lane), then those of the next row
//   weights  panels of 16 rows, panel_depth at a time, unpacked by the thread that multiplies them, row by row
//
// A product of two panels is 16 x 16 floats, weights by x. Integer sums over a group of weights are exact; scales make
// floats of them in the order of the depth, so results do not depend on threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/units.h"
#include "kernels/linear/matmul/matmul.h"
#include "tensor/block_codes.h"

namespace ingot {

inline constexpr int panel_rows = 16;
// A panel of weights this deep is 16 KiB (32 as two planes): with as much of a panel of x it stays in a first-level
// cache of 48 KiB, while the panels of x stream by from the second level. Divides by every block.
inline constexpr int panel_depth = 1024;
// Rows of x that meet a panel of weights once it is unpacked. Their sums (32 KiB) stay in the second-level cache.
inline constexpr int panels_at_once = 32;

using PanelSums = float[panel_rows][panel_rows];  // [row of weights][row of x]

// Codes of a panel of x on their way from rows to the order of the panel: a whole number of blocks.
inline constexpr int panel_step = 256;
using PanelStep = std::int8_t[panel_rows][panel_step];

// A panel of x from some depth on.
struct ActivationPart {
  std::int8_t* codes;
  float* scales;  // [block][row]
  // [group][row], for what a format needs: scale * sum of the codes where it has minimums, else what a product of
  // unsigned codes has to start from.
  float* scaled_sums;
  std::int32_t* corrections;
};

// Where the panels of x lie. The depth is padded with zeros to whole pairs of blocks of 32.
struct ActivationPanels {
  std::byte* data = nullptr;
  std::int64_t depth = 0;

  ActivationPanels(std::byte* place, std::int64_t true_depth)
      : data(place), depth(static_cast<std::int64_t>(align_up(static_cast<std::uint64_t>(true_depth), 64))) {}

  std::int64_t bytes_each() const { return depth * panel_rows + 2 * group_bytes(); }
  std::int8_t* codes(std::int64_t panel) const { return reinterpret_cast<std::int8_t*>(data + panel * bytes_each()); }
  template <class Block>
  ActivationPart part(std::int64_t panel, std::int64_t begin) const {
    std::byte* scales = data + panel * bytes_each() + depth * panel_rows;
    std::byte* sums = scales + group_bytes() + begin / Block::group * panel_rows * 4;
    return {codes(panel) + begin * panel_rows, reinterpret_cast<float*>(scales) + begin / Block::elements * panel_rows,
            reinterpret_cast<float*>(sums), reinterpret_cast<std::int32_t*>(sums)};
  }

 private:
  std::int64_t group_bytes() const { return depth / code_group * panel_rows * 4; }
};

// A panel of weights of a format of 32 elements. Rows are a line longer than their codes, so that those of a panel do
// not all fall into the same set of the cache.
struct alignas(64) WeightPanel32 {
  std::int8_t codes[panel_rows][panel_depth + 64];
  float scales[panel_rows][panel_depth / 32];
  float minimums[panel_rows][panel_depth / 32];
};

// Of a format of 256 elements. The integer scale of a group is multiplied into its codes, which then take up to 13
// bits: code * scale = 128 * upper + lower, and a whole block is summed in integers.
struct alignas(64) WeightPanel256 {
  std::int8_t lower[panel_rows][panel_depth + 64];
  std::int8_t upper[panel_rows][panel_depth + 64];
  float scales[panel_rows][panel_depth / 256];
  float minimums[panel_rows][panel_depth / code_group];
};

// What one thread needs besides.
struct alignas(64) PanelWorkspace {
  std::byte weights[sizeof(WeightPanel256)];  // the panel of weights, whichever it is
  PanelSums sums[panels_at_once];
  std::int32_t products[4][panel_rows][panel_rows];  // of tiles, on their way to registers
};

// The panels of x.
inline std::size_t panel_bytes(const Matmul::Arguments& a) {
  const ActivationPanels x(nullptr, a.x.size(1));
  return static_cast<std::size_t>(divide_rounding_up(a.x.size(0), panel_rows) * x.bytes_each());
}

// A product in two parts: the panels of x, then any columns, each thread with a workspace of its own. Block formats in
// either layout.
struct PanelProduct {
  std::size_t (*bytes)(const Matmul::Arguments& arguments) = nullptr;  // of the panels of x
  std::size_t workspace_bytes = 0;
  std::int64_t chunk_columns = 0;  // that gain from being multiplied by one thread: a multiple of panel_rows
  void (*fill)(const Matmul::Arguments& arguments, Workers& workers, std::byte* panels);
  void (*columns)(const Matmul::Arguments& columns, const std::byte* panels, std::byte* workspace);
};
// Null on other architectures.
extern const PanelProduct* const panels_amx;
extern const PanelProduct* const panels_avx512_vnni;
extern const PanelProduct* const panels_avx_vnni;
extern const PanelProduct* const panels_avx2;
extern const PanelProduct* const panels_neon_i8mm;
extern const PanelProduct* const panels_neon_dotprod;

}  // namespace ingot
