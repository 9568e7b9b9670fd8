// Recomputation: forward steps written into a circuit a second time, right in front of the backward step that first
// reads their results, so that what the first run computed need not be kept until then.
#pragma once

#include <map>

#include "model/circuit/circuit.h"
#include "train/circuit/recompute.h"

namespace ingot {

class Recomputation {
 public:
  // Decides which of the circuit's steps, all forward ones, are computed again. `is_read` says of each tensor whether
  // the backward pass reads it: only where that keeps it anyway can others be computed from it for nothing.
  Recomputation(Circuit& circuit, Recompute which, const std::vector<bool>& is_read);

  // What a forward step reads or writes, for a backward step to read: itself, or computed again by steps that are
  // appended now if they have not been before.
  Operand again(const Operand& operand);

 private:
  bool may_repeat(const Step& step) const;
  bool is_at_hand(int tensor, std::size_t step) const;
  bool is_repeated(int tensor) const;
  void keep_what_crosses_layers();
  void collect(int tensor, std::vector<std::size_t>& steps);
  void repeat(std::size_t step);

  Circuit& circuit_;
  Recompute which_;
  std::vector<bool> is_kept_;                      // of each tensor, if its steps are not repeated
  std::vector<bool> crosses_;                      // of each tensor: a step of another layer reads it
  std::vector<std::vector<std::size_t>> writers_;  // of each tensor
  std::vector<bool> repeats_;                      // of each step
  std::vector<bool> is_done_;                      // of each step that repeats
  std::map<int, int> copies_;                      // of tensors
};

}  // namespace ingot
