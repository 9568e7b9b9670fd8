// What a launch of the device function of scans is told: state.mamba2, and state.selective_scan, which is one with
// heads of a channel each and a transition for each memory.
#pragma once

#include "kernels/device/view.h"

namespace ingot {

// Memories that a scan keeps at hand: what is beyond them is scanned anew, and joins the outputs.
inline constexpr std::uint32_t lane_memories = 8;

struct ScannedRows {
  DeviceTensor<const float> x;                  // [batch, time, head, channel]
  DeviceTensor<const float> delta;              // [batch, time, head]
  DeviceTensor<const float> transition;         // [head, memory]
  DeviceTensor<const float> input_projection;   // [batch, time, group, memory]
  DeviceTensor<const float> output_projection;  // likewise
  DeviceTensor<const float> skip;               // [head]; without data: none
  DeviceTensor<const float> initial_state;      // [batch, head, channel, memory]; without data: zeros
  DeviceTensor<float> y;
  DeviceTensor<float> final_state;
  std::uint32_t rows;      // channels of all heads and batches
  std::uint32_t memories;  // of a row
  std::uint32_t lanes;     // that have them: a power of two, 32 at most
  std::uint32_t head_group;
};

}  // namespace ingot
