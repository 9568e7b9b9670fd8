// Sum: one number of many things in their order, which differs where they do; but for one time in 2^64, and not against
// those who look for two that have the same.
#pragma once

#include <string>
#include <string_view>

#include "base/siphash.h"

namespace ingot {

class Sum {
 public:
  // Lengths count: "a", "bc" are not "ab", "c".
  void add(std::span<const std::byte> bytes) { sum_ = siphash({sum_, bytes.size()}, bytes); }
  void add(std::string_view text) { add(std::as_bytes(std::span(text))); }
  void add(std::uint64_t number) { add(std::as_bytes(std::span(&number, 1))); }

  std::uint64_t value() const { return sum_; }
  // The first `digits` of sixteen.
  std::string hexadecimal(int digits = 16) const {
    std::string text;
    for (int digit = 0; digit < digits; ++digit) text += "0123456789abcdef"[sum_ >> (60 - 4 * digit) & 15];
    return text;
  }

 private:
  std::uint64_t sum_ = 0;
};

}  // namespace ingot
