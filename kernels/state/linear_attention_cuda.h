// What a launch of the device functions of state.linear_attention and state.gated_delta_net is told.
#pragma once

#include "kernels/device/view.h"

namespace ingot {

// Columns of a state are independent of each other: a block has some of a head's, a lane each, and its warps share the
// rows.
inline constexpr std::uint32_t state_columns = 32;
inline constexpr std::uint32_t state_warps = 8;
// Rows that a block keeps in registers; longer columns lie in the final state all the while.
inline constexpr std::uint32_t kept_state_rows = 256;

struct RecurrentHeads {
  DeviceTensor<const float> query, key, value;
  DeviceTensor<const float> decay;          // a head's, or with one axis more a key channel's; without data: none
  DeviceTensor<const float> beta;           // without data: none
  DeviceTensor<const float> initial_state;  // without data: zeros
  DeviceTensor<float> y;
  DeviceTensor<float> final_state;
  std::uint32_t column_tiles;       // of a head
  std::uint32_t states_per_key;     // heads of states that share a head of keys
  std::uint32_t outputs_per_state;  // heads of outputs that share a head of states
  std::uint32_t outputs_per_query;
  float scale;
};

}  // namespace ingot
