// What a block of attention keeps of its rows in shared memory where numbers are multiplied one by one.
#pragma once

#include "kernels/attention/attend_rows_device.h"
#include "kernels/device/blocks.h"
#include "kernels/device/half_groups.h"

namespace ingot::device {

inline constexpr unsigned attention_warps = 8;
inline constexpr unsigned query_chunk = 128;  // dimensions of queries in shared memory
inline constexpr unsigned value_chunk = 128;  // dimensions of values that a warp mixes: four a lane
inline constexpr unsigned summed_rows = 4;    // of which the sums of all warps lie in shared memory
static_assert(split_keys == attention_warps * warp_size, "a thread has a key");

template <unsigned Rows>
struct SharedTile {
  float weights[Rows][split_keys];  // scores at first
  float queries[Rows][query_chunk];
  float sums[attention_warps][summed_rows][value_chunk];
  const std::byte* value_rows[split_keys];  // null: nobody sees it
  DeviceKeys seen[Rows];                    // none behind the last row
  float to_halves[Rows], from_halves[Rows];
  RowState state[Rows];
  Shares shares[Rows];
};

// Four numbers of a row of pages; zeros beyond its width.
struct FloatPages {
  static INGOT_ON_DEVICE void load(const DevicePages& pages, const std::byte* row, unsigned at,
                                   float (&values)[group_floats]) {
    load_group(values, reinterpret_cast<const float*>(row), at, pages.width, pages.is_aligned);
  }
};
struct HalfPages {
  static INGOT_ON_DEVICE void load(const DevicePages& pages, const std::byte* row, unsigned at,
                                   float (&values)[group_floats]) {
    load_halves(values, reinterpret_cast<const Half*>(row), at, pages.width, pages.is_aligned);
  }
};
struct CodedPages {
  static INGOT_ON_DEVICE void load(const DevicePages&, const std::byte* row, unsigned at,
                                   float (&values)[group_floats]) {
    decode_quad<BlockQ8_0>(row, at, values);
  }
};

template <class Function>
INGOT_ON_DEVICE void with_pages(DType dtype, Function&& function) {
  if (dtype == DType::f16) return function.template operator()<HalfPages>();
  if (dtype == DType::q8_0) return function.template operator()<CodedPages>();
  function.template operator()<FloatPages>();
}

}  // namespace ingot::device
