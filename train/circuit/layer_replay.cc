#include "train/circuit/layer_replay.h"

namespace ingot {
namespace {

bool writes(const Step& step, const BoundOperand& bound) {
  return is_written(step.operation->fields[static_cast<std::size_t>(bound.field)].role);
}

}  // namespace

void LayerReplay::begin(int layer, std::size_t forward_steps) {
  layer_ = layer;
  tensors_.clear();
  steps_.clear();
  for (std::size_t index = 0; index < forward_steps; ++index) {
    if (circuit_.steps[index].layer != layer) continue;
    Step step = circuit_.steps[index];
    for (BoundOperand& bound : step.operands) {
      const bool is_new = writes(step, bound) && !tensors_.contains(bound.operand.tensor);
      if (is_new) {
        CircuitTensor copy = circuit_.tensors[static_cast<std::size_t>(bound.operand.tensor)];
        copy.name += ".again";
        tensors_.emplace(bound.operand.tensor, static_cast<int>(circuit_.tensors.size()));
        circuit_.tensors.push_back(std::move(copy));
      }
      bound.operand = again(bound.operand);
    }
    step.name += ".again";
    steps_.emplace(index, circuit_.steps.size());
    replayed_.insert(circuit_.steps.size());
    circuit_.steps.push_back(std::move(step));
  }
}

Operand LayerReplay::again(const Operand& operand) const {
  const auto found = tensors_.find(operand.tensor);
  if (found == tensors_.end()) return operand;
  Operand copy = operand;
  copy.tensor = found->second;
  return copy;
}

std::size_t LayerReplay::step(std::size_t forward_step) const {
  const auto found = steps_.find(forward_step);
  return found == steps_.end() ? forward_step : found->second;
}

void LayerReplay::remove_unread(std::size_t forward_steps) {
  std::vector<bool> is_read(circuit_.tensors.size(), false);
  std::vector<Step> kept;  // from the last one backwards
  for (std::size_t index = circuit_.steps.size(); index-- > forward_steps;) {
    Step& step = circuit_.steps[index];
    bool is_needed = !replayed_.contains(index);
    for (const BoundOperand& bound : step.operands) {
      is_needed |= writes(step, bound) && is_read[static_cast<std::size_t>(bound.operand.tensor)];
    }
    if (!is_needed) continue;
    for (const BoundOperand& bound : step.operands) {
      if (!writes(step, bound)) is_read[static_cast<std::size_t>(bound.operand.tensor)] = true;
    }
    kept.push_back(std::move(step));
  }
  circuit_.steps.resize(forward_steps);
  for (std::size_t index = kept.size(); index-- > 0;) circuit_.steps.push_back(std::move(kept[index]));
}

}  // namespace ingot
