#include "engine/assumed_inputs.h"

#include "model/template/pass_inputs.h"

namespace ingot {

AssumedInputs::AssumedInputs(const Plan& plan, const PassShape& shape, std::int64_t depth) : plan_(plan) {
  for (const CircuitTensor& tensor : plan.circuit().tensors) {
    if (tensor.storage != Storage::input) continue;
    const std::int64_t bytes = row_bytes(tensor.dtype, element_count(tensor.shape));
    inputs_[tensor.name].resize(static_cast<std::size_t>(divide_rounding_up(bytes, sizeof(std::int32_t))));
  }
  const std::span<std::int32_t> lengths = numbers(pass_inputs::lengths);  // of tokens that are decoded one by one
  const std::span<std::int32_t> run_begins = numbers(pass_inputs::run_begins);
  const std::span<std::int32_t> run_lengths = numbers(pass_inputs::run_lengths);
  std::size_t token = 0;
  std::size_t run = 0;
  for (const std::int64_t tokens : shape.runs) {
    if (token >= lengths.size()) {
      if (run < run_begins.size()) run_begins[run] = static_cast<std::int32_t>(token - lengths.size());
      if (run < run_lengths.size()) run_lengths[run] = static_cast<std::int32_t>(depth + tokens);
      ++run;
    }
    for (std::int64_t index = 0; index < tokens; ++index, ++token) {
      if (token < lengths.size()) lengths[token] = static_cast<std::int32_t>(depth + index + 1);
    }
  }
  if (run < run_begins.size()) run_begins[run] = static_cast<std::int32_t>(token - lengths.size());
}

std::span<std::int32_t> AssumedInputs::numbers(std::string_view name) {
  const auto found = inputs_.find(name);
  return found == inputs_.end() ? std::span<std::int32_t>() : std::span(found->second);
}

Cost AssumedInputs::cost(std::size_t step) const {
  const std::unique_ptr<Invocation> told = plan_.invocation(step).clone();
  for (const BoundOperand& bound : plan_.circuit().steps[step].operands) {
    if (!bound.operand.is_present()) continue;
    const CircuitTensor& tensor = plan_.circuit().tensors[static_cast<std::size_t>(bound.operand.tensor)];
    const auto found = inputs_.find(tensor.name);
    if (tensor.storage != Storage::input || found == inputs_.end()) continue;
    auto* data = reinterpret_cast<std::byte*>(const_cast<std::int32_t*>(found->second.data()));
    // The type is the one that the plan itself bound, so this cannot fail.
    (void)told->set_tensor(bound.field, AnyView(data + bound.operand.byte_offset, tensor.dtype, bound.operand.shape,
                                                bound.operand.byte_strides));
  }
  return told->cost();
}

}  // namespace ingot
