// PassCosts: how long passes took, and from that how many rows the next one can have. What is measured last counts
// most: a machine that others share changes by the minute.
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
  // How many rows, of prompts and others, a pass with prompts can have in that time; 0 where nothing was measured yet.
  double affordable_rows(double seconds) const;

 private:
  // By powers of two: rows of one class cost nearly the same, since their weights are read once for all of them.
  static constexpr std::size_t classes = 24;
  static std::size_t class_of(std::int64_t rows);

  std::array<double, classes> decoding_seconds_ = {};
  // Of the passes with prompts, for the line that fits them: what a pass takes whatever its rows, and what each adds.
  struct Sums {
    double weight = 0, rows = 0, squares = 0, seconds = 0, products = 0;
  };
  Sums sums_;
};

}  // namespace ingot
