#include "model/circuit/circuit.h"

#include <utility>

#include "kernels/all_operations.h"

namespace ingot {

std::string_view name_of(Storage storage) {
  switch (storage) {
    case Storage::weight: return "weight";
    case Storage::input: return "input";
    case Storage::activation: return "activation";
    case Storage::output: return "output";
    case Storage::cache: return "cache";
    case Storage::state: return "state";
    case Storage::gradient: return "gradient";
  }
  return "unknown";
}

const Operand* Step::find(std::string_view field) const {
  const int index = operation->field_index(field);
  for (const BoundOperand& bound : operands) {
    if (bound.field == index) return &bound.operand;
  }
  return nullptr;
}

const AttributeValue* Step::find_attribute(std::string_view field) const {
  const int index = operation->field_index(field);
  for (const BoundAttribute& bound : attributes) {
    if (bound.field == index) return &bound.value;
  }
  return nullptr;
}

std::int64_t Step::integer(std::string_view field) const {
  const AttributeValue* value = find_attribute(field);
  if (value == nullptr) return 0;
  return std::visit([](auto number) { return static_cast<std::int64_t>(number); }, *value);
}

Step Step::of(std::string_view operation, std::string name, int layer) {
  Step step;
  step.operation = find_operation(operation);
  step.name = std::move(name);
  step.layer = layer;
  return step;
}

void Step::bind(std::string_view field, const Operand& operand) {
  operands.push_back({operation->field_index(field), operand});
}

void Step::set(std::string_view field, const AttributeValue& value) {
  attributes.push_back({operation->field_index(field), value});
}

const CircuitTensor* Circuit::find(std::string_view name) const {
  for (const CircuitTensor& tensor : tensors) {
    if (tensor.name == name) return &tensor;
  }
  return nullptr;
}

Operand Circuit::add(CircuitTensor tensor) {
  tensors.push_back(std::move(tensor));
  return whole(static_cast<int>(tensors.size()) - 1);
}

Operand Circuit::whole(int tensor) const {
  const CircuitTensor& all = tensors[static_cast<std::size_t>(tensor)];
  const Strides strides =
      all.storage == Storage::weight ? all.weight.byte_strides() : contiguous_byte_strides(all.dtype, all.shape);
  return {tensor, all.shape, strides, 0};
}

std::string layer_prefix(int layer) { return layer < 0 ? std::string() : "blk." + std::to_string(layer) + "."; }

std::string text_of(const Circuit& circuit, const Step& step) {
  std::string inputs;
  std::string outputs;
  for (const BoundOperand& bound : step.operands) {
    if (!bound.operand.is_present()) continue;
    const FieldInformation& field = step.operation->fields[static_cast<std::size_t>(bound.field)];
    const CircuitTensor& tensor = circuit.tensors[static_cast<std::size_t>(bound.operand.tensor)];
    const auto shape = text_of(bound.operand.shape, " ", tensor.dtype);
    std::string& list = is_written(field.role) ? outputs : inputs;
    list += (list.empty() ? "" : ", ") + std::string(field.name) + "=" + tensor.name + " " + std::string(shape.view());
  }
  return step.name + "  " + std::string(step.operation->name) + "  " + inputs + " -> " + outputs;
}

std::string text_of(const Circuit& circuit) {
  std::string text;
  for (const Step& step : circuit.steps) text += text_of(circuit, step) + "\n";
  return text;
}

}  // namespace ingot
