#include "model/plan/split.h"

#include <algorithm>

namespace ingot {
namespace {

// Steps before this one are the host's.
std::size_t first_step_behind(const Circuit& circuit, std::int64_t host_layers) {
  const auto is_behind = [&](const Step& step) { return step.layer >= host_layers; };
  const auto found = std::ranges::find_if(circuit.steps, is_behind);
  if (found != circuit.steps.end()) return static_cast<std::size_t>(found - circuit.steps.begin());
  std::size_t end = circuit.steps.size();
  while (end > 0 && circuit.steps[end - 1].layer < 0) --end;
  return end;
}

std::vector<bool> touched_by(const Circuit& circuit) {
  std::vector<bool> touched(circuit.tensors.size(), false);
  for (const Step& step : circuit.steps) {
    for (const BoundOperand& bound : step.operands) touched[static_cast<std::size_t>(bound.operand.tensor)] = true;
  }
  return touched;
}

bool is_made_in_a_pass(Storage storage) { return storage == Storage::activation || storage == Storage::output; }

// Operands name tensors of the joined circuit.
void renumber(std::vector<Step>& steps, std::span<const int> numbers) {
  for (Step& step : steps) {
    for (BoundOperand& bound : step.operands) {
      bound.operand.tensor = numbers[static_cast<std::size_t>(bound.operand.tensor)];
    }
  }
}

// Adds those tensors of a part that are needed, and returns the number that each has then; -1: it is not needed.
std::vector<int> add_tensors(Circuit& joined, const Circuit& part, bool is_of_host) {
  const std::vector<bool> touched = touched_by(part);
  std::vector<int> numbers;
  for (std::size_t index = 0; index < part.tensors.size(); ++index) {
    const Storage storage = part.tensors[index].storage;
    const bool is_of_pass = !is_of_host && (storage == Storage::input || storage == Storage::output);
    numbers.push_back(touched[index] || is_of_pass ? static_cast<int>(joined.tensors.size()) : -1);
    if (numbers.back() < 0) continue;
    joined.tensors.push_back(part.tensors[index]);
    joined.tensors.back().is_on_host = is_of_host;
  }
  return numbers;
}

void add_rewrites(Circuit& joined, const Circuit& part) {
  for (const AppliedRewrite& rewrite : part.rewrites) {
    const auto found = std::ranges::find(joined.rewrites, rewrite.name, &AppliedRewrite::name);
    if (found == joined.rewrites.end()) {
      joined.rewrites.push_back(rewrite);
    } else {
      found->count += rewrite.count;
    }
  }
}

}  // namespace

CircuitParts split_layers(const Circuit& circuit, std::int64_t host_layers) {
  CircuitParts parts;
  const auto cut = circuit.steps.begin() + static_cast<std::ptrdiff_t>(first_step_behind(circuit, host_layers));
  parts.host = {.tensors = circuit.tensors, .steps = {circuit.steps.begin(), cut}};
  parts.device = {.tensors = circuit.tensors, .steps = {cut, circuit.steps.end()}};
  const std::vector<bool> by_host = touched_by(parts.host);
  const std::vector<bool> by_device = touched_by(parts.device);
  for (std::size_t index = 0; index < circuit.tensors.size(); ++index) {
    const Storage storage = circuit.tensors[index].storage;
    const bool is_wanted = by_device[index] || storage == Storage::output;
    if (!is_made_in_a_pass(storage) || !by_host[index] || !is_wanted) continue;
    parts.crossing.push_back(static_cast<int>(index));
    parts.host.tensors[index].storage = Storage::output;
    if (storage == Storage::activation) parts.device.tensors[index].storage = Storage::input;
  }
  return parts;
}

Circuit join_parts(CircuitParts parts) {
  for (const int index : parts.crossing) {
    const auto tensor = static_cast<std::size_t>(index);
    parts.host.tensors[tensor].storage = Storage::activation;
    Storage& storage = parts.device.tensors[tensor].storage;
    if (storage == Storage::input) storage = Storage::activation;
  }
  // Inputs that rewrites of the host's steps alone asked for.
  for (const CircuitTensor& tensor : parts.host.tensors) {
    if (tensor.storage == Storage::input && parts.device.find(tensor.name) == nullptr) parts.device.add(tensor);
  }
  Circuit joined;
  const std::vector<int> of_host = add_tensors(joined, parts.host, true);
  const std::vector<int> of_device = add_tensors(joined, parts.device, false);
  renumber(parts.host.steps, of_host);
  renumber(parts.device.steps, of_device);
  joined.steps = std::move(parts.host.steps);
  const int layer = joined.steps.empty() ? -1 : joined.steps.back().layer;
  for (const int index : parts.crossing) {
    const auto tensor = static_cast<std::size_t>(index);
    if (of_device[tensor] < 0) continue;
    Step copy = Step::of("layout.copy", parts.host.tensors[tensor].name + "@device", layer);
    copy.bind("x", joined.whole(of_host[tensor]));
    copy.bind("y", joined.whole(of_device[tensor]));
    joined.steps.push_back(std::move(copy));
  }
  std::ranges::move(parts.device.steps, std::back_inserter(joined.steps));
  add_rewrites(joined, parts.host);
  add_rewrites(joined, parts.device);
  return joined;
}

}  // namespace ingot
