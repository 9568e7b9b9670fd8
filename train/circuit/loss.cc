#include "train/circuit/loss.h"

#include <algorithm>

#include "kernels/all_operations.h"
#include "kernels/loss/cross_entropy.h"
#include "model/template/pass_inputs.h"

namespace ingot {
namespace {

Operand add_whole(Circuit& circuit, std::string_view name, Storage storage, DType dtype, const Shape& shape) {
  circuit.tensors.push_back({.name = std::string(name), .storage = storage, .dtype = dtype, .shape = shape});
  return {static_cast<int>(circuit.tensors.size()) - 1, shape, contiguous_byte_strides(dtype, shape), 0};
}

}  // namespace

Result<void> append_next_token_loss(Circuit& circuit) {
  const auto result = std::ranges::find(circuit.tensors, pass_inputs::result, &CircuitTensor::name);
  if (result == circuit.tensors.end()) {
    return Error::of(ErrorCode::not_found, "expected a circuit with a result to compare, found none");
  }
  result->storage = Storage::activation;
  const Shape shape = result->shape;
  const int index = static_cast<int>(result - circuit.tensors.begin());
  const Operand logits = {index, shape, contiguous_byte_strides(DType::f32, shape), 0};
  const Operand targets = add_whole(circuit, loss_targets, Storage::input, DType::i32, {shape[0]});
  const Operand loss = add_whole(circuit, loss_name, Storage::output, DType::f32, {1});

  Step step{.operation = find_operation(CrossEntropy::name), .name = std::string(loss_name)};
  const auto field = [&](std::string_view name) { return step.operation->field_index(name); };
  step.operands = {{field("logits"), logits}, {field("targets"), targets}, {field("loss"), loss}};
  step.attributes = {{field("ignore_index"), ignored_target},
                     {field("reduction"), static_cast<std::int64_t>(Reduction::mean)}};
  circuit.steps.push_back(std::move(step));
  return {};
}

}  // namespace ingot
