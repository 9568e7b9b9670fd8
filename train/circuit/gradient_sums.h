// GradientSums: the derivatives of a circuit's tensors while its backward pass is being written. A tensor that several
// steps read receives a part from each, and its derivative is their sum; a step that read a slice gives a part of it.
//
// Gradients are written once and never changed while another step may still read them, so that a part may be another
// tensor's gradient itself: that of a residual addition is, and costs nothing.
#pragma once

#include <map>
#include <set>

#include "model/circuit/circuit.h"

namespace ingot {

class GradientSums {
 public:
  // With `accumulates`, gradients of weights are added to what is there.
  GradientSums(Circuit& circuit, bool accumulates) : circuit_(circuit), accumulates_(accumulates) {}

  // Steps that follow belong to this layer.
  void enter_layer(int layer) { layer_ = layer; }

  // Where the next step shall write the derivative by what the forward step read as `operand`. Call flush() once that
  // step is in the circuit.
  Operand place(const Operand& operand);
  // Somewhere to write a derivative that nobody wants.
  Operand unwanted(const Operand& operand);
  void flush();
  // The derivative by `operand` is `derivative`: both are whole tensors of as many elements.
  void pass_on(const Operand& operand, const Operand& derivative);

  bool has(const Operand& operand) const { return gradients_.contains(operand.tensor); }
  // The derivative by what a forward step wrote as `operand`, summed up.
  Result<Operand> read(const Operand& operand);

  bool is_whole(const Operand& operand) const;
  // Weights whose gradients are only added to, although the pass should replace them: they must be zero before it.
  const std::set<std::string, std::less<>>& added_to() const { return added_to_; }

 private:
  // A tensor of the shape of another, holding some or all of its derivative.
  struct Part {
    int tensor = -1;
    bool is_own = true;                 // not another tensor's gradient too
    std::vector<Operand> regions = {};  // what has been written, where that is not all
    std::vector<bool> is_written = {};  // by element
    std::int64_t missing = 0;           // elements
  };
  using Parts = std::vector<Part>;

  const CircuitTensor& tensor_of(const Operand& operand) const {
    return circuit_.tensors[static_cast<std::size_t>(operand.tensor)];
  }
  Operand place_weight(const Operand& operand);
  int add_tensor(const CircuitTensor& of, Storage storage, std::string name);
  // The same view, of a tensor of floats.
  Operand view_of(int tensor, const Operand& operand) const;
  Operand whole_of(int tensor) const;
  void emit_add(const Operand& a, const Operand& b, const Operand& y);
  Result<void> sum_up(int tensor, Parts& parts);
  Result<void> add_regions(Part& sum, const Part& part);

  Circuit& circuit_;
  bool accumulates_;
  int layer_ = -1;
  std::map<int, Parts> gradients_;
  std::map<int, int> weight_gradients_;
  std::vector<Step> pending_;  // additions to weights' gradients that follow the step under way
  std::set<std::string, std::less<>> added_to_;
  std::map<int, int> copies_;  // how many gradients of a tensor there are, to name them apart
};

// The tensor that holds a weight's gradient.
std::string gradient_name(std::string_view tensor);

}  // namespace ingot
