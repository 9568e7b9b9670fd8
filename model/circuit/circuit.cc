#include "model/circuit/circuit.h"

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

const CircuitTensor* Circuit::find(std::string_view name) const {
  for (const CircuitTensor& tensor : tensors) {
    if (tensor.name == name) return &tensor;
  }
  return nullptr;
}

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
