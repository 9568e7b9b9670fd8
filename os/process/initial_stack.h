// InitialStack: what a program finds above its stack pointer when it begins (System V ABI for AMD64, 3.4.1): the number
// of its arguments, pointers to them, to its environment, pairs of facts, and the texts themselves.
//
//   top     the texts, in the order they were added, and other bytes
//           pairs: key, value; ended by a key 0
//           pointers to the environment, ended by 0
//           pointers to the arguments, ended by 0
//   bottom  the number of arguments: here the stack pointer points
//
// It is made in the kernel's memory and copied as a whole; only addresses in it know where it will lie.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/result.h"
#include "os/memory/address.h"

namespace ingot::os {

// Keys of the facts (linux/auxvec.h).
enum class AuxiliaryKey : std::uint64_t {
  end = 0,
  program_headers = 3,
  program_header_bytes = 4,
  program_header_count = 5,
  bytes_of_page = 6,
  interpreter_base = 7,
  flags = 8,
  entry = 9,
  user = 11,
  effective_user = 12,
  group = 13,
  effective_group = 14,
  platform = 15,
  processor_features = 16,
  clock_ticks = 17,
  secure = 23,
  random_bytes = 25,
  more_processor_features = 26,
  program_name = 31,
  kernel_object = 33,
  least_signal_stack = 51,
};

class InitialStack {
 public:
  static constexpr std::size_t most_texts = 1024;  // arguments and environment together
  static constexpr std::size_t most_facts = 24;
  struct Fact {
    AuxiliaryKey key = AuxiliaryKey::end;
    std::uint64_t value = 0;
  };

  // The room ends at `top` in the program's memory and has room.size() bytes at most.
  InitialStack(std::span<std::byte> room, VirtualAddress top) : room_(room), top_(top), at_(room.size()) {}

  // Arguments first, then the environment. Each is copied with a zero behind it.
  template <class Text>  // with size() and copy_to(char*)
  Result<void> add_argument(const Text& text) {
    if (text_count_ != argument_count_) return arguments_come_first();
    text.copy_to(TRY(take_text(text.size())));
    ++argument_count_;
    return {};
  }
  template <class Text>
  Result<void> add_environment(const Text& text) {
    text.copy_to(TRY(take_text(text.size())));
    return {};
  }
  // Bytes, aligned to 16; where they will lie.
  Result<VirtualAddress> add_bytes(std::span<const std::byte> bytes);
  Result<VirtualAddress> add_text(std::string_view text);
  Result<void> add_fact(AuxiliaryKey key, std::uint64_t value);
  std::span<const Fact> facts() const { return std::span(facts_).first(fact_count_); }

  // Writes the pointers. The stack pointer to begin with; from there to `top` the bytes are contents().
  Result<VirtualAddress> finish();
  std::span<const std::byte> contents() const { return room_.subspan(at_); }

 private:
  Result<std::byte*> take(std::size_t bytes);
  Result<char*> take_text(std::size_t size);
  static Error arguments_come_first();
  VirtualAddress address_of_taken() const { return top_ - (room_.size() - at_); }

  std::span<std::byte> room_;
  VirtualAddress top_;
  std::size_t at_;  // what is taken begins here
  std::array<std::uint64_t, most_texts> texts_{};
  std::size_t argument_count_ = 0, text_count_ = 0;
  std::array<Fact, most_facts> facts_{};
  std::size_t fact_count_ = 0;
};

}  // namespace ingot::os
