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
  const std::byte* at = bytes.data();
  const auto add_next = [&]<class Word>(Word word) {
    std::memcpy(&word, at, sizeof word);
    at += sizeof word;
    add(word);
  };
  for (std::size_t left = bytes.size() / 32; left != 0; --left) {
    for (int i = 0; i < 4; ++i) add_next(std::uint64_t{});
  }
  for (std::size_t left = bytes.size() % 32 / 8; left != 0; --left) add_next(std::uint64_t{});
  if ((bytes.size() & 4) != 0) add_next(std::uint32_t{});
  if ((bytes.size() & 2) != 0) add_next(std::uint16_t{});
  if ((bytes.size() & 1) != 0) add(static_cast<std::uint8_t>(*at));
  sum = (sum >> 32) + (sum & 0xffffffff);
  for (int i = 0; i < 3; ++i) sum = (sum >> 16) + (sum & 0xffff);
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
