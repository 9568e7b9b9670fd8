// Numbers as the wire has them: the highest byte first, at any address.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace ingot::os::network {

template <class Number>
class BigEndian {
 public:
  constexpr BigEndian() = default;
  constexpr BigEndian(Number number) { *this = number; }

  constexpr operator Number() const {
    Number number = 0;
    for (const std::uint8_t byte : bytes_) number = static_cast<Number>(number << 8 | byte);
    return number;
  }
  constexpr BigEndian& operator=(Number number) {
    for (std::size_t i = sizeof(Number); i-- > 0; number = static_cast<Number>(number >> 8)) {
      bytes_[i] = static_cast<std::uint8_t>(number);
    }
    return *this;
  }

 private:
  std::uint8_t bytes_[sizeof(Number)] = {};
};

using Big16 = BigEndian<std::uint16_t>;
using Big32 = BigEndian<std::uint32_t>;
static_assert(alignof(Big32) == 1 && sizeof(Big32) == 4);

}  // namespace ingot::os::network
