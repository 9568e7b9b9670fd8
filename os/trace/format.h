// How the kernel writes values into a FixedText, beyond what base knows: numbers in hexadecimal, and errors.
#pragma once

#include <cstdint>

#include "base/error.h"
#include "os/memory/address.h"

namespace ingot::os {

// 0x1f: as many digits as it needs.
struct Hexadecimal {
  std::uint64_t value;
};
template <class Text>
constexpr void describe(Hexadecimal number, Text& text) {
  describe_hexadecimal(number.value, text);
}

// 000000000000001f: all sixteen, for columns of registers.
struct HexadecimalWord {
  std::uint64_t value;
};
template <class Text>
constexpr void describe(HexadecimalWord word, Text& text) {
  for (int shift = 60; shift >= 0; shift -= 4) text.append("0123456789abcdef"[(word.value >> shift) & 15]);
}

}  // namespace ingot::os

namespace ingot {

// In the namespace of Error, where a FixedText looks for it.
template <class Text>
constexpr void describe(const Error& error, Text& text) {
  text.append(name_of(error.code())).append(": ").append(error.text());
}

}  // namespace ingot
