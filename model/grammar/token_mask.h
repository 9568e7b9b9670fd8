// Which tokens may come next, a bit each.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "model/tokenizer/description.h"

namespace ingot::grammar {

class TokenMask {
 public:
  explicit TokenMask(std::size_t vocabulary_size) : size_(vocabulary_size), words_((vocabulary_size + 63) / 64) {}

  bool allows(TokenId token) const {
    const auto bit = static_cast<std::size_t>(token);
    return bit < size_ && (words_[bit / 64] >> (bit % 64) & 1) != 0;
  }
  void allow(TokenId token) {
    const auto bit = static_cast<std::size_t>(token);
    words_[bit / 64] |= std::uint64_t{1} << (bit % 64);
  }
  void allow_all_of(const TokenMask& other) {
    for (std::size_t word = 0; word < words_.size(); ++word) words_[word] |= other.words_[word];
  }
  std::size_t count() const {
    std::size_t sum = 0;
    for (const std::uint64_t word : words_) sum += static_cast<std::size_t>(std::popcount(word));
    return sum;
  }
  std::size_t vocabulary_size() const { return size_; }
  std::span<const std::uint64_t> words() const { return words_; }
  friend bool operator==(const TokenMask&, const TokenMask&) = default;

 private:
  std::size_t size_;
  std::vector<std::uint64_t> words_;
};

}  // namespace ingot::grammar
