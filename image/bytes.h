// Bytes of file formats: numbers in little-endian order, whatever the host's, and reads that cannot leave the text.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace ingot::image {

// A std::string holds bytes here: it grows, compares and cuts, and std::string_view looks into it.
template <std::unsigned_integral Number>
void put_number(std::string& bytes, std::size_t offset, Number value) {
  for (std::size_t i = 0; i < sizeof(Number); ++i) {
    bytes.at(offset + i) = static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * i));
  }
}

template <std::unsigned_integral Number>
void append_number(std::string& bytes, Number value) {
  bytes.resize(bytes.size() + sizeof(Number));
  put_number(bytes, bytes.size() - sizeof(Number), value);
}

// Precondition: the number lies inside.
template <std::unsigned_integral Number>
Number number_at(std::string_view bytes, std::size_t offset) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < sizeof(Number); ++i) {
    value |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes.at(offset + i))) << (8 * i);
  }
  return static_cast<Number>(value);
}

// `count` bytes from `offset` on, or an error that says whose they should have been.
inline Result<std::string_view> part_of(std::string_view bytes, std::uint64_t offset, std::uint64_t count,
                                        std::string_view what) {
  if (offset > bytes.size() || count > bytes.size() - offset) {
    return Error::of(ErrorCode::corrupt, "expected ", what, " of ", count, " bytes at ", offset, ", found the end at ",
                     bytes.size());
  }
  return bytes.substr(offset, count);
}

// A text of bounded length inside an error, whose own length is bounded.
inline std::string_view shortened(std::string_view text) { return text.substr(0, 160); }

}  // namespace ingot::image
