// PromptRows: how many rows of prompts a pass may have where memory is short. A pass that finds no memory is tried
// again with half of them; each that succeeds makes room for a tile more in the next.
#pragma once

#include <algorithm>
#include <cstdint>

namespace ingot {

class PromptRows {
 public:
  PromptRows(std::int64_t most, std::int64_t least, std::int64_t step)
      : all_(most), least_(std::min(least, most)), step_(step), most_(most) {}

  std::int64_t most() const { return most_; }
  // A pass of so many rows of prompts found no memory. False where fewer will not help.
  bool shrink(std::int64_t rows) {
    if (rows <= least_) return false;
    most_ = std::max(least_, rows / 2);
    return true;
  }
  void grow() { most_ = std::min(all_, most_ + step_); }

 private:
  std::int64_t all_, least_, step_;
  std::int64_t most_;
};

}  // namespace ingot
