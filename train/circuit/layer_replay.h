// LayerReplay: a layer's forward steps written into the circuit a second time, in front of their backward steps, so
// that what the first run computed need not be kept until then.
#pragma once

#include <map>
#include <set>

#include "model/circuit/circuit.h"

namespace ingot {

class LayerReplay {
 public:
  explicit LayerReplay(Circuit& circuit) : circuit_(circuit) {}

  // The layer that is computed again at the moment; -1: none so far.
  int layer() const { return layer_; }
  // Appends its steps, found among the first `forward_steps`.
  void begin(int layer, std::size_t forward_steps);
  // What a forward step reads or writes, as it is computed again. Itself where it is not.
  Operand again(const Operand& operand) const;
  // The step that computes again what a forward step did, or that step itself.
  std::size_t step(std::size_t forward_step) const;
  // Drops steps that were written again although nothing reads their results.
  void remove_unread(std::size_t forward_steps);

 private:
  Circuit& circuit_;
  int layer_ = -1;
  std::map<int, int> tensors_;
  std::map<std::size_t, std::size_t> steps_;
  std::set<std::size_t> replayed_;  // positions of all steps written again
};

}  // namespace ingot
