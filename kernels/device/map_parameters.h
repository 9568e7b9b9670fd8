// DeviceMap<N>: every element of a tensor as a function of the same element of N others. A part of a launch's
// parameters: device_map() of kernels/device/joint_windows.h makes it, kernels/device/map.h runs it.
#pragma once

#include "kernels/device/joint_walk.h"

namespace ingot {

// Items that a thread has under way at most.
inline constexpr std::uint32_t most_turns = 4;

template <unsigned Sources>
struct DeviceMap {
  JointWalk<Sources + 1> walk;  // the target first; strides are in elements
  float* target = nullptr;
  const float* sources[Sources] = {};
  WalkItems items;          // groups of four elements, or elements
  bool is_grouped = false;  // all rows are packed and begin at multiples of 16 bytes, or repeat one number
};

}  // namespace ingot
