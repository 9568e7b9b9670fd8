// Codes of five and six bits in whole bytes (interleaved.h). A word is four bytes, an element each, and what is said of
// a byte holds for all four.
#pragma once

#include <cstdint>

namespace ingot {

using CodeWord = std::uint32_t;

template <int Bytes>
constexpr void copy_bytes(const void* from, void* to) {
  __builtin_memcpy(to, from, Bytes);
}
constexpr CodeWord code_word(const std::uint8_t* from) {
  return from[0] | CodeWord{from[1]} << 8 | CodeWord{from[2]} << 16 | CodeWord{from[3]} << 24;
}
constexpr void store_code_word(CodeWord word, std::uint8_t* to) {
  for (int i = 0; i < 4; ++i) to[i] = static_cast<std::uint8_t>(word >> 8 * i);
}

// `count` bits of every byte, from bit `first` on, at the bottom of their byte.
template <int first, int count>
constexpr CodeWord bits_of(CodeWord word) {
  return word >> first & 0x01010101u * ((1u << count) - 1);
}

// Four 6-bit codes in three bytes: the first three, and above them two bits each of the fourth, lowest first. It comes
// back by  t = b[2] >> 2;  insert b[1] >> 4 below bit 4 of t;  insert b[0] >> 6 below bit 2.
constexpr void pack_sixes(const CodeWord (&codes)[4], CodeWord (&bytes)[3]) {
  bytes[0] = codes[0] | bits_of<0, 2>(codes[3]) << 6;
  bytes[1] = codes[1] | bits_of<2, 2>(codes[3]) << 6;
  bytes[2] = codes[2] | bits_of<4, 2>(codes[3]) << 6;
}
constexpr void unpack_sixes(const CodeWord (&bytes)[3], CodeWord (&codes)[4]) {
  for (int i = 0; i < 3; ++i) codes[i] = bits_of<0, 6>(bytes[i]);
  codes[3] = bits_of<6, 2>(bytes[0]) | bits_of<6, 2>(bytes[1]) << 2 | bits_of<6, 2>(bytes[2]) << 4;
}

// Eight 5-bit codes in five bytes: the first five, and above them, as shifts with insertion find them,
//
//   code 5   low three bits above code 0, high two at the top of code 1
//   code 6   bit 0 above code 3, bit 1 above code 1, high three above code 2
//   code 7   low three bits above code 4, high two at the top of code 3
constexpr void pack_fives(const CodeWord (&codes)[8], CodeWord (&bytes)[5]) {
  bytes[0] = codes[0] | bits_of<0, 3>(codes[5]) << 5;
  bytes[1] = codes[1] | bits_of<1, 1>(codes[6]) << 5 | bits_of<3, 2>(codes[5]) << 6;
  bytes[2] = codes[2] | bits_of<2, 3>(codes[6]) << 5;
  bytes[3] = codes[3] | bits_of<0, 1>(codes[6]) << 5 | bits_of<3, 2>(codes[7]) << 6;
  bytes[4] = codes[4] | bits_of<0, 3>(codes[7]) << 5;
}
constexpr void unpack_fives(const CodeWord (&bytes)[5], CodeWord (&codes)[8]) {
  for (int i = 0; i < 5; ++i) codes[i] = bits_of<0, 5>(bytes[i]);
  codes[5] = bits_of<5, 3>(bytes[0]) | bits_of<6, 2>(bytes[1]) << 3;
  codes[6] = bits_of<5, 1>(bytes[3]) | bits_of<5, 1>(bytes[1]) << 1 | bits_of<5, 3>(bytes[2]) << 2;
  codes[7] = bits_of<5, 3>(bytes[4]) | bits_of<6, 2>(bytes[3]) << 3;
}

}  // namespace ingot
