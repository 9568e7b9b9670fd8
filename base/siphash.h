// SipHash-2-4 (Aumasson, Bernstein 2012): a hash that nobody without the key can predict, so that strangers cannot fill
// one chain of a table, or guess a number that was made from what they know.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace ingot {

struct SipHashKey {
  std::uint64_t low = 0, high = 0;
};

constexpr std::uint64_t siphash(const SipHashKey& key, std::span<const std::byte> bytes) {
  std::uint64_t v0 = key.low ^ 0x736f6d6570736575, v1 = key.high ^ 0x646f72616e646f6d;
  std::uint64_t v2 = key.low ^ 0x6c7967656e657261, v3 = key.high ^ 0x7465646279746573;
  const auto rounds = [&](int count) {
    while (count-- > 0) {
      v0 += v1, v1 = std::rotl(v1, 13) ^ v0, v0 = std::rotl(v0, 32);
      v2 += v3, v3 = std::rotl(v3, 16) ^ v2;
      v0 += v3, v3 = std::rotl(v3, 21) ^ v0;
      v2 += v1, v1 = std::rotl(v1, 17) ^ v2, v2 = std::rotl(v2, 32);
    }
  };
  const auto word_at = [&](std::size_t begin, std::size_t count) {
    std::uint64_t word = 0;
    for (std::size_t i = 0; i < count; ++i) word |= static_cast<std::uint64_t>(bytes[begin + i]) << (8 * i);
    return word;
  };
  const std::size_t whole = bytes.size() / 8 * 8;
  for (std::size_t at = 0; at < whole; at += 8) {
    // In one piece, where nobody computes at compile time: tables hash a flow for every segment.
    std::uint64_t word = 0;
    if (std::is_constant_evaluated()) {
      word = word_at(at, 8);
    } else {
      static_assert(std::endian::native == std::endian::little);
      __builtin_memcpy(&word, &bytes[at], 8);
    }
    v3 ^= word;
    rounds(2);
    v0 ^= word;
  }
  const std::uint64_t last = word_at(whole, bytes.size() - whole) | static_cast<std::uint64_t>(bytes.size()) << 56;
  v3 ^= last;
  rounds(2);
  v0 ^= last;
  v2 ^= 0xff;
  rounds(4);
  return v0 ^ v1 ^ v2 ^ v3;
}

}  // namespace ingot
