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
    static_assert(std::endian::native == std::endian::little);
    const auto turned = std::bit_cast<Number>(*this);
    static_assert(sizeof(Number) == 1 || sizeof(Number) == 2 || sizeof(Number) == 4);
    if constexpr (sizeof(Number) == 4) return __builtin_bswap32(turned);
    if constexpr (sizeof(Number) == 2) return __builtin_bswap16(turned);
    return turned;
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
