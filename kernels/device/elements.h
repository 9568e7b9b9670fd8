// Elements of any plain type, one or four at a time, moved by loads and stores as wide as four of them are.
#pragma once

#include "kernels/device/memory.h"
#include "kernels/device/numbers.h"

namespace ingot::device {

// Four of them begin at a multiple of their size, or of 16 bytes where that is less.
template <class Element, unsigned Count>
struct Elements {
  static_assert(Count == 1 || Count == 4);
  Element values[Count];

  INGOT_ON_DEVICE void load(const std::byte* from) {
    if constexpr (Count == 1) {
      values[0] = load_unit<Element>(from);
    } else if constexpr (sizeof(Element) == 8) {
      take(load16(from), 0);
      take(load16(from + 16), 2);
    } else if constexpr (sizeof(Element) == 4) {
      take(load16(from), 0);
    } else if constexpr (sizeof(Element) == 2) {
      take(load8(from), 0);
    } else {
      take(load_unit<std::uint32_t>(from), 0);
    }
  }
  INGOT_ON_DEVICE void store(std::byte* to) const {
    if constexpr (Count == 1) {
      store_unit(to, values[0]);
    } else if constexpr (sizeof(Element) == 8) {
      store16(to, give<Words16>(0));
      store16(to + 16, give<Words16>(2));
    } else if constexpr (sizeof(Element) == 4) {
      store16(to, give<Words16>(0));
    } else if constexpr (sizeof(Element) == 2) {
      store8(to, give<Words8>(0));
    } else {
      store_unit(to, give<std::uint32_t>(0));
    }
  }

 private:
  template <class Words>
  INGOT_ON_DEVICE void take(const Words& words, unsigned at) {
    __builtin_memcpy(static_cast<void*>(values + at), &words, sizeof(Words));
  }
  template <class Words>
  INGOT_ON_DEVICE Words give(unsigned at) const {
    Words words;
    __builtin_memcpy(&words, values + at, sizeof(Words));
    return words;
  }
};

}  // namespace ingot::device
