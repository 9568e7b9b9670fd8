#include "train/circuit/recomputation.h"

#include <algorithm>

namespace ingot {
namespace {

Role role_of(const Step& step, const BoundOperand& bound) {
  return step.operation->fields[static_cast<std::size_t>(bound.field)].role;
}

// Families whose operations walk over memory once; what products, attention and recurrences make is dear.
bool is_cheap(const Step& step) {
  constexpr std::string_view families[] = {"activation", "elementwise", "layout", "norm", "position"};
  return std::ranges::find(families, step.operation->family()) != std::end(families);
}

}  // namespace

Recomputation::Recomputation(Circuit& circuit, Recompute which, const std::vector<bool>& is_read)
    : circuit_(circuit),
      which_(which),
      is_kept_(is_read),
      crosses_(circuit.tensors.size(), false),
      writers_(circuit.tensors.size()),
      repeats_(circuit.steps.size(), false),
      is_done_(circuit.steps.size(), false) {
  is_kept_.resize(circuit.tensors.size(), false);
  for (std::size_t index = 0; index < circuit.steps.size(); ++index) {
    for (const BoundOperand& bound : circuit.steps[index].operands) {
      if (is_written(role_of(circuit.steps[index], bound))) {
        writers_[static_cast<std::size_t>(bound.operand.tensor)].push_back(index);
      }
    }
  }
  if (which == Recompute::nothing) return;
  if (which == Recompute::layers) keep_what_crosses_layers();
  for (std::size_t index = 0; index < circuit.steps.size(); ++index) {
    const Step& step = circuit.steps[index];
    repeats_[index] = may_repeat(step) && std::ranges::all_of(step.operands, [&](const BoundOperand& bound) {
                        return is_written(role_of(step, bound)) || is_at_hand(bound.operand.tensor, index);
                      });
  }
}

void Recomputation::keep_what_crosses_layers() {
  for (const Step& step : circuit_.steps) {
    for (const BoundOperand& bound : step.operands) {
      const auto tensor = static_cast<std::size_t>(bound.operand.tensor);
      if (is_written(role_of(step, bound))) continue;
      const bool crosses = std::ranges::any_of(
          writers_[tensor], [&](std::size_t writer) { return circuit_.steps[writer].layer != step.layer; });
      if (!crosses) continue;
      crosses_[tensor] = true;
      is_kept_[tensor] = true;
    }
  }
}

bool Recomputation::may_repeat(const Step& step) const {
  const bool is_of_layer = which_ == Recompute::layers && step.layer >= 0;
  if (!is_of_layer && !is_cheap(step)) return false;
  return std::ranges::none_of(step.operands, [&](const BoundOperand& bound) {
    const auto tensor = static_cast<std::size_t>(bound.operand.tensor);
    const bool is_written_here = is_written(role_of(step, bound));
    // What is read and written cannot be written twice, and the loss and what enters another layer stay.
    return role_of(step, bound) == Role::state ||
           (is_written_here && (crosses_[tensor] || circuit_.tensors[tensor].storage != Storage::activation));
  });
}

// Whether a tensor that a step reads is still there in the backward pass, or can be made again.
bool Recomputation::is_at_hand(int tensor, std::size_t step) const {
  const std::vector<std::size_t>& writers = writers_[static_cast<std::size_t>(tensor)];
  if (writers.empty()) return true;
  if (std::ranges::all_of(writers, [&](std::size_t writer) { return writer < step && repeats_[writer]; })) return true;
  return is_kept_[static_cast<std::size_t>(tensor)];
}

bool Recomputation::is_repeated(int tensor) const {
  if (static_cast<std::size_t>(tensor) >= writers_.size()) return false;
  const std::vector<std::size_t>& writers = writers_[static_cast<std::size_t>(tensor)];
  return !writers.empty() && std::ranges::all_of(writers, [&](std::size_t writer) { return repeats_[writer]; });
}

Operand Recomputation::again(const Operand& operand) {
  if (!is_repeated(operand.tensor)) return operand;
  std::vector<std::size_t> steps;
  collect(operand.tensor, steps);
  std::ranges::sort(steps);
  for (const std::size_t step : steps) repeat(step);
  Operand copy = operand;
  copy.tensor = copies_.at(operand.tensor);
  return copy;
}

// The steps that a tensor still needs.
void Recomputation::collect(int tensor, std::vector<std::size_t>& steps) {
  if (!is_repeated(tensor)) return;
  for (const std::size_t writer : writers_[static_cast<std::size_t>(tensor)]) {
    if (is_done_[writer]) continue;
    is_done_[writer] = true;
    steps.push_back(writer);
    for (const BoundOperand& bound : circuit_.steps[writer].operands) collect(bound.operand.tensor, steps);
  }
}

void Recomputation::repeat(std::size_t number) {
  Step step = circuit_.steps[number];
  // What the first run saved for the backward pass, one number a row, is there.
  std::erase_if(step.operands, [&](const BoundOperand& bound) { return role_of(step, bound) == Role::saved; });
  for (BoundOperand& bound : step.operands) {
    const int tensor = bound.operand.tensor;
    if (is_written(role_of(step, bound)) && !copies_.contains(tensor)) {
      CircuitTensor copy = circuit_.tensors[static_cast<std::size_t>(tensor)];
      copy.name += ".again";
      copies_.emplace(tensor, static_cast<int>(circuit_.tensors.size()));
      circuit_.tensors.push_back(std::move(copy));
    }
    if (is_repeated(tensor) || is_written(role_of(step, bound))) bound.operand.tensor = copies_.at(tensor);
  }
  step.name += ".again";
  circuit_.steps.push_back(std::move(step));
}

}  // namespace ingot
