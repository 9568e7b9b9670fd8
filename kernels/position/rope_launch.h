// What launches that turn heads are told, made of a call's arguments.
#pragma once

#include <algorithm>
#include <vector>

#include "kernels/position/rope.h"
#include "kernels/position/turned_heads.h"

namespace ingot {

// Calls launch(list) for all pairs, as many at a time as a launch carries.
template <class Launch>
void for_each_list(const RotationAttributes& rotation, Launch&& launch) {
  const auto pairs = static_cast<std::uint32_t>(rotation.rotary_dimensions / 2);
  RotationAttributes of_host = rotation;  // the factors lie on the device, and divide there
  of_host.frequency_factors = {};
  std::vector<double> frequencies(pairs);
  rotation_frequencies(of_host, frequencies);
  FrequencyList list;
  if (is_present(rotation.frequency_factors)) {
    list.divisors = rotation.frequency_factors.data();
    list.divisor_stride = rotation.frequency_factors.stride(0);
  }
  for (; list.begin < pairs; list.begin += FrequencyList::most) {
    list.count = std::min(FrequencyList::most, pairs - list.begin);
    std::copy_n(frequencies.begin() + list.begin, list.count, list.frequencies);
    launch(list);
  }
}

inline TurnedHeads heads_of(const RopeCall& call) {
  return turned_heads(call.x, call.y, call.inputs.rotary_dimensions / 2, call.inputs.style, call.direction);
}

// Without the frequencies.
inline RopeHeads rope_heads_of(const RopeCall& call) {
  const RopeInputs& inputs = call.inputs;
  return {.heads = heads_of(call),
          .positions = device_tensor(inputs.positions),
          .sections = is_present(inputs.sections) ? device_tensor(inputs.sections) : DeviceTensor<const std::int32_t>(),
          .magnitude = rotation_magnitude(inputs),
          .list = {}};
}

}  // namespace ingot
