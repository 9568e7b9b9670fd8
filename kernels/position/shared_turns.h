// The cosines and sines of a block's token in shared memory. Angles in double, once for the heads of a block: reduced
// in full, they are as exact at far positions as at near ones.
#pragma once

#include "kernels/position/angle_device.h"
#include "kernels/position/turn_device.h"

namespace ingot::device {

INGOT_ON_DEVICE double angle_of(const FrequencyList& list, std::uint32_t place, std::int32_t position) {
  double frequency = list.frequencies[place];
  if (list.divisors != nullptr) {
    frequency /= static_cast<double>(list.divisors[(list.begin + place) * list.divisor_stride]);
  }
  return static_cast<double>(position) * frequency;
}

// The position that a pair of a token turns by.
INGOT_ON_DEVICE std::int32_t position_of(const RopeHeads& parameters, std::uint32_t token, std::uint32_t pair) {
  if (parameters.sections.data == nullptr) return parameters.positions(token);
  std::uint32_t end = 0;
  std::uint32_t section = 0;
  for (; section + 1 < parameters.sections.sizes[0]; ++section) {
    end += static_cast<std::uint32_t>(parameters.sections(section));
    if (pair < end) break;
  }
  return parameters.positions(section, token);
}

// The turns of a block's token, a pair each thread.
struct SharedTurns {
  float* cosines;
  float* sines;
  std::uint32_t begin;

  INGOT_ON_DEVICE void fill(const RopeHeads& parameters) const {
    const FrequencyList& list = parameters.list;
    for (unsigned place = thread_index(); place < list.count; place += thread_count()) {
      const std::int32_t position = position_of(parameters, block_index(), list.begin + place);
      const CosineAndSine turn = cosine_and_sine(angle_of(list, place, position));
      cosines[place] = static_cast<float>(parameters.magnitude * turn.cosine);
      sines[place] = static_cast<float>(parameters.magnitude * turn.sine);
    }
    synchronize_block();
  }
  INGOT_ON_DEVICE PairTurn operator()(std::uint32_t pair) const { return {cosines[pair - begin], sines[pair - begin]}; }
};

}  // namespace ingot::device
