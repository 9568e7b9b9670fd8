#include "os/network/wire/checksum.h"

#include <bit>
#include <cstring>

namespace ingot::os::network {

namespace {

// The sum of little-endian words, eight bytes at a time; turned at the end. Carries out of the top come back in below,
// which ones' complement allows for words of any size.
std::uint64_t sum_of(std::span<const std::byte> bytes) {
  std::uint64_t sum = 0;
  const auto add = [&](std::uint64_t word) {
    sum += word;
    sum += sum < word ? 1 : 0;
  };
  std::size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) {
    std::uint64_t word;
    std::memcpy(&word, bytes.data() + at, 8);
    add(word);
  }
  std::uint64_t last = 0;
  for (std::size_t i = 0; at + i < bytes.size(); ++i) last |= static_cast<std::uint64_t>(bytes[at + i]) << (8 * i);
  add(last);
  while (sum >> 16 != 0) sum = (sum >> 16) + (sum & 0xffff);
  return sum;
}

}  // namespace

void Checksum::add(std::span<const std::byte> bytes) {
  static_assert(std::endian::native == std::endian::little);
  const auto sum = static_cast<std::uint16_t>(sum_of(bytes));
  sum_ += odd_ ? sum : std::uint16_t(sum << 8 | sum >> 8);
  odd_ = odd_ != (bytes.size() % 2 != 0);
}

}  // namespace ingot::os::network
