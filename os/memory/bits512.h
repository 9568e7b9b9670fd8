// Bits512: 512 bits, the branching factor of both page tables and the frame allocator: 512 frames make 2 MiB, 512 times
// that make 1 GiB.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace ingot::os {

class Bits512 {
 public:
  static constexpr unsigned size = 512;

  constexpr bool test(unsigned index) const { return ((words_[index / 64] >> (index % 64)) & 1) != 0; }
  constexpr void set(unsigned index) { words_[index / 64] |= std::uint64_t{1} << (index % 64); }
  constexpr void clear(unsigned index) { words_[index / 64] &= ~(std::uint64_t{1} << (index % 64)); }

  constexpr void set_range(unsigned begin, unsigned end) {
    for (unsigned word = begin / 64; word * 64 < end; ++word) words_[word] |= mask(word, begin, end);
  }
  constexpr void clear_range(unsigned begin, unsigned end) {
    for (unsigned word = begin / 64; word * 64 < end; ++word) words_[word] &= ~mask(word, begin, end);
  }

  // The first of 2^order set bits that lie within [begin, end) and start at a multiple of 2^order.
  constexpr std::optional<unsigned> find_run(unsigned order, unsigned begin = 0, unsigned end = size) const {
    if (order > 6) return find_words(1u << (order - 6), begin, end);
    for (unsigned word = begin / 64; word * 64 < end; ++word) {
      std::uint64_t runs = words_[word] & mask(word, begin, end);
      // After step k a bit tells whether 2^(k+1) bits from it on are set; then only aligned ones may stay.
      for (unsigned step = 0; step < order; ++step) runs &= runs >> (1u << step);
      runs &= run_starts[order];
      if (runs != 0) return word * 64 + static_cast<unsigned>(std::countr_zero(runs));
    }
    return std::nullopt;
  }

 private:
  static constexpr std::uint64_t run_starts[] = {~std::uint64_t{0},
                                                 0x5555555555555555u,
                                                 0x1111111111111111u,
                                                 0x0101010101010101u,
                                                 0x0001000100010001u,
                                                 0x0000000100000001u,
                                                 1};

  // The bits of a word that lie within [begin, end). Precondition: there is at least one.
  static constexpr std::uint64_t mask(unsigned word, unsigned begin, unsigned end) {
    std::uint64_t bits = ~std::uint64_t{0};
    if (begin > word * 64) bits <<= begin - word * 64;
    if (end < word * 64 + 64) bits &= ~std::uint64_t{0} >> (word * 64 + 64 - end);
    return bits;
  }

  constexpr std::optional<unsigned> find_words(unsigned words, unsigned begin, unsigned end) const {
    const unsigned step = words * 64;
    for (unsigned first = (begin + step - 1) / step * step; first + step <= end; first += step) {
      std::uint64_t all = ~std::uint64_t{0};
      for (unsigned word = 0; word < words; ++word) all &= words_[first / 64 + word];
      if (all == ~std::uint64_t{0}) return first;
    }
    return std::nullopt;
  }

  std::uint64_t words_[size / 64] = {};
};

}  // namespace ingot::os
