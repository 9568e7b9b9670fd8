// A set of bytes, a bit each.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace ingot::grammar {

class ByteSet {
 public:
  static constexpr ByteSet of_range(unsigned first, unsigned last) {
    ByteSet set;
    set.add_range(first, last);
    return set;
  }
  static constexpr ByteSet of(unsigned byte) { return of_range(byte, byte); }

  constexpr void add(unsigned byte) { words_[byte / 64] |= std::uint64_t{1} << (byte % 64); }
  constexpr void add_range(unsigned first, unsigned last) {
    for (unsigned byte = first; byte <= last; ++byte) add(byte);
  }
  constexpr bool contains(unsigned byte) const { return (words_[byte / 64] >> (byte % 64) & 1) != 0; }
  constexpr bool is_empty() const { return (words_[0] | words_[1] | words_[2] | words_[3]) == 0; }
  constexpr int count() const {
    int sum = 0;
    for (const std::uint64_t word : words_) sum += std::popcount(word);
    return sum;
  }
  // Precondition: not empty.
  constexpr unsigned least() const {
    unsigned byte = 0;
    while (!contains(byte)) ++byte;
    return byte;
  }
  constexpr ByteSet united(const ByteSet& other) const {
    ByteSet result = *this;
    for (std::size_t word = 0; word < words_.size(); ++word) result.words_[word] |= other.words_[word];
    return result;
  }
  friend constexpr auto operator<=>(const ByteSet&, const ByteSet&) = default;

 private:
  std::array<std::uint64_t, 4> words_{};
};

}  // namespace ingot::grammar
