// What lanes of a warp tell each other. All 32 take part, always: there are no masks to get wrong.
//
// Reductions are butterflies: every lane gets the same bits, by a tree that depends on nothing.
#pragma once

#include <bit>
#include <type_traits>

#include "kernels/device/language.h"

#if !defined(__CUDACC__)
#include <cstring>
#endif

namespace ingot::device {

#if defined(__CUDACC__)

// Of 32 or 64 bits: integers, float, double.
template <class Value>
INGOT_ON_DEVICE Value shuffle_index(Value value, unsigned lane) {
  static_assert(sizeof(Value) == 4 || sizeof(Value) == 8);
  return __shfl_sync(0xffffffffu, value, lane);
}
template <class Value>
INGOT_ON_DEVICE Value shuffle_xor(Value value, unsigned lanes) {
  static_assert(sizeof(Value) == 4 || sizeof(Value) == 8);
  return __shfl_xor_sync(0xffffffffu, value, lanes);
}
// From the lane so many below; lanes for which there is none keep their own.
template <class Value>
INGOT_ON_DEVICE Value shuffle_up(Value value, unsigned distance) {
  static_assert(sizeof(Value) == 4 || sizeof(Value) == 8);
  return __shfl_up_sync(0xffffffffu, value, distance);
}
// From the lane so many above.
template <class Value>
INGOT_ON_DEVICE Value shuffle_down(Value value, unsigned distance) {
  static_assert(sizeof(Value) == 4 || sizeof(Value) == 8);
  return __shfl_down_sync(0xffffffffu, value, distance);
}

// Bit i: what lane i says.
INGOT_ON_DEVICE unsigned ballot(bool vote) { return __ballot_sync(0xffffffffu, vote); }
INGOT_ON_DEVICE bool any_lane(bool vote) { return __any_sync(0xffffffffu, vote); }
INGOT_ON_DEVICE bool all_lanes(bool vote) { return __all_sync(0xffffffffu, vote); }

INGOT_ON_DEVICE unsigned count_ones(unsigned bits) { return static_cast<unsigned>(__popc(bits)); }

#else

template <class Value>
INGOT_ON_DEVICE Value exchange_lanes(emulated::Meeting meeting, Value value, unsigned lane) {
  static_assert(std::is_arithmetic_v<Value> && (sizeof(Value) == 4 || sizeof(Value) == 8));
  std::memcpy(emulated::own_lane_slot(), &value, sizeof(Value));
  std::memcpy(&value, emulated::meet_warp(meeting, nullptr) + lane, sizeof(Value));
  return value;
}

template <class Value>
INGOT_ON_DEVICE Value shuffle_index(Value value, unsigned lane) {
  return exchange_lanes(emulated::Meeting::shuffle, value, lane % warp_size);
}
template <class Value>
INGOT_ON_DEVICE Value shuffle_xor(Value value, unsigned lanes) {
  const unsigned lane = lane_index() ^ lanes;
  return exchange_lanes(emulated::Meeting::shuffle, value, lane < warp_size ? lane : lane_index());
}
template <class Value>
INGOT_ON_DEVICE Value shuffle_up(Value value, unsigned distance) {
  const unsigned lane = lane_index();
  return exchange_lanes(emulated::Meeting::shuffle, value, lane >= distance ? lane - distance : lane);
}
template <class Value>
INGOT_ON_DEVICE Value shuffle_down(Value value, unsigned distance) {
  const unsigned lane = lane_index();
  return exchange_lanes(emulated::Meeting::shuffle, value, distance < warp_size - lane ? lane + distance : lane);
}

INGOT_ON_DEVICE unsigned ballot(bool vote) {
  const std::uint32_t mine = vote ? 1 : 0;
  std::memcpy(emulated::own_lane_slot(), &mine, sizeof mine);
  const emulated::LaneSlot* lanes = emulated::meet_warp(emulated::Meeting::vote, nullptr);
  unsigned votes = 0;
  for (unsigned lane = 0; lane < warp_size; ++lane) {
    std::uint32_t each;
    std::memcpy(&each, lanes + lane, sizeof each);
    votes |= each << lane;
  }
  return votes;
}
INGOT_ON_DEVICE bool any_lane(bool vote) { return ballot(vote) != 0; }
INGOT_ON_DEVICE bool all_lanes(bool vote) { return ballot(vote) == 0xffffffffu; }

INGOT_ON_DEVICE unsigned count_ones(unsigned bits) { return static_cast<unsigned>(std::popcount(bits)); }

#endif

// Ways to combine two values. a combined with b has the bits of b combined with a, where neither is NaN.
struct Sum {
  template <class Value>
  INGOT_ON_DEVICE Value operator()(Value a, Value b) const {
    return a + b;
  }
};
// Of two of which one is NaN either may come out: who must keep NaNs, or lose them, sees to it before.
struct Greatest {
  template <class Value>
  INGOT_ON_DEVICE Value operator()(Value a, Value b) const {
    return b > a ? b : a;
  }
};
struct Least {
  template <class Value>
  INGOT_ON_DEVICE Value operator()(Value a, Value b) const {
    return b < a ? b : a;
  }
};

template <class Value>
struct Indexed {
  Value value;
  std::int32_t index;
};
template <class Value>
INGOT_ON_DEVICE Indexed<Value> shuffle_xor(Indexed<Value> indexed, unsigned lanes) {
  return {shuffle_xor(indexed.value, lanes), shuffle_xor(indexed.index, lanes)};
}
// The greatest or least value; among equals the one with the lowest index.
struct FirstGreatest {
  template <class Value>
  INGOT_ON_DEVICE Indexed<Value> operator()(Indexed<Value> a, Indexed<Value> b) const {
    return b.value > a.value || (b.value == a.value && b.index < a.index) ? b : a;
  }
};
struct FirstLeast {
  template <class Value>
  INGOT_ON_DEVICE Indexed<Value> operator()(Indexed<Value> a, Indexed<Value> b) const {
    return b.value < a.value || (b.value == a.value && b.index < a.index) ? b : a;
  }
};

template <class Value, class Combine>
INGOT_ON_DEVICE Value warp_reduce(Value value, Combine combine) {
  INGOT_UNROLL
  for (unsigned lanes = warp_size / 2; lanes > 0; lanes /= 2) value = combine(value, shuffle_xor(value, lanes));
  return value;
}
template <class Value>
INGOT_ON_DEVICE Value warp_sum(Value value) {
  return warp_reduce(value, Sum{});
}
template <class Value>
INGOT_ON_DEVICE Value warp_maximum(Value value) {
  return warp_reduce(value, Greatest{});
}
template <class Value>
INGOT_ON_DEVICE Value warp_minimum(Value value) {
  return warp_reduce(value, Least{});
}

// The sum over this lane and all below it.
template <class Value>
INGOT_ON_DEVICE Value warp_inclusive_scan(Value value) {
  INGOT_UNROLL
  for (unsigned distance = 1; distance < warp_size; distance *= 2) {
    const Value below = shuffle_up(value, distance);
    if (lane_index() >= distance) value = below + value;
  }
  return value;
}

}  // namespace ingot::device
