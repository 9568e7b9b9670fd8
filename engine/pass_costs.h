// PassCosts: how long passes took, and from that how many rows of prompts the next one can take beside those that
// decode. What is measured last counts most: a machine that others share changes by the minute.
#pragma once

#include <array>
#include <cstdint>

namespace ingot {

class PassCosts {
 public:
  // A pass of so many decoding rows and rows of prompts has taken so long.
  void observe(std::int64_t decoding_rows, std::int64_t prompt_rows, double seconds);

  // What a pass without prompts is expected to take; 0 where nothing was measured yet.
  double decoding_seconds(std::int64_t decoding_rows) const;
  // What a row of a prompt adds to a pass; 0 where nothing was measured yet.
  double prompt_row_seconds() const { return prompt_row_seconds_; }

 private:
  // By powers of two: rows of one class cost nearly the same, since their weights are read once for all of them.
  static constexpr std::size_t classes = 24;
  static std::size_t class_of(std::int64_t rows);

  std::array<double, classes> decoding_seconds_ = {};
  double prompt_row_seconds_ = 0;
};

}  // namespace ingot
