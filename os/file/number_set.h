// NumberSet: which small numbers are taken, and the lowest that is not. A bit for each number, and a bit for each word
// of those that is full: so 4096 taken numbers are passed over by one look.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "os/memory/allocator.h"

namespace ingot::os {

class NumberSet {
 public:
  explicit NumberSet(Allocator& heap) : heap_(heap) {}
  NumberSet(const NumberSet&) = delete;
  NumberSet& operator=(const NumberSet&) = delete;
  ~NumberSet() { give_back(words_, capacity_); }

  std::uint32_t capacity() const { return capacity_; }
  // For the numbers below `wanted` and perhaps some more.
  Result<void> make_room(std::uint32_t wanted) {
    if (wanted <= capacity_) return {};
    const std::uint32_t room = std::max({bits, std::bit_ceil(wanted), capacity_ * 2});
    auto* words = static_cast<Word*>(TRY(heap_.allocate(bytes_for(room), alignof(Word))));
    std::fill_n(words, word_count(room) + full_count(room), Word{0});
    if (words_ != nullptr) {
      std::copy_n(words_, word_count(capacity_), words);
      std::copy_n(full(), full_count(capacity_), words + word_count(room));
    }
    give_back(words_, capacity_);
    words_ = words;
    capacity_ = room;
    return {};
  }

  // Precondition of both: below the capacity.
  void add(std::uint32_t number) {
    Word& word = words_[number / bits];
    word |= bit(number);
    if (word == ~Word{0}) full()[number / bits / bits] |= bit(number / bits);
  }
  void remove(std::uint32_t number) {
    words_[number / bits] &= ~bit(number);
    full()[number / bits / bits] &= ~bit(number / bits);
  }

  // The lowest from `from` on that is not taken; the capacity or more where there is none below. `looks` grows by the
  // words that were looked at.
  std::uint32_t lowest_free(std::uint32_t from, std::uint64_t& looks) const {
    if (from >= capacity_) return from;
    ++looks;
    if (const Word free = ~words_[from / bits] & (~Word{0} << from % bits); free != 0) {
      return from / bits * bits + lowest(free);
    }
    const std::uint32_t next = from / bits + 1;  // the first word that comes into question
    for (std::uint32_t i = next / bits; i < full_count(capacity_); ++i) {
      ++looks;
      const Word from_next = i == next / bits ? ~Word{0} << next % bits : ~Word{0};
      const Word free = ~full()[i] & from_next;
      const std::uint32_t word = i * bits + lowest(free);
      if (free == 0) continue;
      if (word >= word_count(capacity_)) break;
      ++looks;
      return word * bits + lowest(~words_[word]);
    }
    return capacity_;
  }
  // The lowest from `from` on that is taken; the capacity where there is none.
  std::uint32_t lowest_taken(std::uint32_t from) const {
    for (std::uint32_t i = from / bits; i < word_count(capacity_); ++i) {
      const Word taken = words_[i] & (i == from / bits ? ~Word{0} << from % bits : ~Word{0});
      if (taken != 0) return i * bits + lowest(taken);
    }
    return capacity_;
  }
  std::uint32_t count() const {
    std::uint32_t taken = 0;
    for (std::uint32_t i = 0; i < word_count(capacity_); ++i)
      taken += static_cast<std::uint32_t>(std::popcount(words_[i]));
    return taken;
  }

 private:
  using Word = std::uint64_t;
  static constexpr std::uint32_t bits = 64;

  static Word bit(std::uint32_t number) { return Word{1} << number % bits; }
  static std::uint32_t lowest(Word word) { return static_cast<std::uint32_t>(std::countr_zero(word)); }
  static std::uint32_t word_count(std::uint32_t numbers) { return numbers / bits; }
  static std::uint32_t full_count(std::uint32_t numbers) { return (word_count(numbers) + bits - 1) / bits; }
  static std::size_t bytes_for(std::uint32_t numbers) {
    return (word_count(numbers) + full_count(numbers)) * sizeof(Word);
  }
  Word* full() const { return words_ + word_count(capacity_); }  // it follows the words
  void give_back(Word* words, std::uint32_t numbers) {
    if (words != nullptr) heap_.free(words, bytes_for(numbers), alignof(Word));
  }

  Allocator& heap_;
  Word* words_ = nullptr;
  std::uint32_t capacity_ = 0;  // a multiple of 64
};

}  // namespace ingot::os
