#include "train/circuit/backward.h"

#include <algorithm>
#include <array>

#include "kernels/all_operations.h"
#include "train/circuit/gradient_sums.h"
#include "train/circuit/recomputation.h"

namespace ingot {
namespace {

bool is_written_field(const Step& step, const BoundOperand& bound) {
  return is_written(step.operation->fields[static_cast<std::size_t>(bound.field)].role);
}

class Reversal {
 public:
  Reversal(Circuit& circuit, const WeightNames& trained, const BackwardOptions& options,
           const std::vector<bool>& is_read = {})
      : circuit_(circuit), sums_(circuit, options.accumulates), recomputation_(circuit, options.recompute, is_read) {
    find_dependants(trained);
  }

  Result<BackwardPass> run(int loss) {
    const CircuitTensor& tensor = circuit_.tensors[static_cast<std::size_t>(loss)];
    const Operand whole = {loss, tensor.shape, contiguous_byte_strides(DType::f32, tensor.shape), 0};
    circuit_.tensors.push_back(
        {.name = std::string(loss_derivative), .storage = Storage::input, .dtype = DType::f32, .shape = tensor.shape});
    Operand derivative = whole;
    derivative.tensor = static_cast<int>(circuit_.tensors.size()) - 1;
    sums_.pass_on(whole, derivative);

    const std::size_t forward_steps = circuit_.steps.size();
    for (std::size_t index = forward_steps; index-- > 0;) {
      sums_.enter_layer(circuit_.steps[index].layer);
      TRY(answer(index));
    }
    return BackwardPass{sums_.added_to()};
  }

 private:
  // Tensors whose value depends on a trained weight: the others need no derivative.
  void find_dependants(const WeightNames& trained) {
    depends_.resize(circuit_.tensors.size(), false);
    for (std::size_t index = 0; index < circuit_.tensors.size(); ++index) {
      const CircuitTensor& tensor = circuit_.tensors[index];
      depends_[index] = tensor.storage == Storage::weight && trained.contains(tensor.name);
    }
    for (const Step& step : circuit_.steps) {
      const bool is_touched =
          std::ranges::any_of(step.operands, [&](const BoundOperand& bound) { return depends(bound.operand); });
      if (!is_touched) continue;
      for (const BoundOperand& bound : step.operands) {
        const auto tensor = static_cast<std::size_t>(bound.operand.tensor);
        if (is_written_field(step, bound) && circuit_.tensors[tensor].dtype == DType::f32) depends_[tensor] = true;
      }
    }
  }

  bool depends(const Operand& operand) const {
    const auto tensor = static_cast<std::size_t>(operand.tensor);
    return tensor < depends_.size() && depends_[tensor];
  }

  Result<void> answer(std::size_t index) {
    const Step step = circuit_.steps[index];  // a copy: the list grows
    const bool has_derivative = std::ranges::any_of(step.operands, [&](const BoundOperand& bound) {
      return is_written_field(step, bound) && depends(bound.operand) && sums_.has(bound.operand);
    });
    if (!has_derivative) return {};
    if (passes_on(step)) return pass_on(step);
    if (step.operation->backward.empty()) {
      return Error::of(ErrorCode::unsupported, step.name, ": expected an operation with a derivative, found ",
                       step.operation->name, " (", step.operation->no_backward, ")");
    }
    // Derivatives by weights come first: what they alone read is gone before the derivative by the input is there.
    for (const bool is_by_weights : {true, false}) {
      for (const std::string_view name : step.operation->backward) {
        const Operation* operation = find_operation(name);
        if (operation == nullptr) return Error::of(ErrorCode::not_found, "expected an operation, found ", name);
        if (gives_weights_alone(step, *operation) != is_by_weights || !is_wanted(step, *operation)) continue;
        TRY(answer_by(index, step, *operation));
      }
    }
    return {};
  }

  // y = a + b of whole tensors: the derivatives by both are that by y.
  bool passes_on(const Step& step) const {
    if (step.operation->name != "elementwise.residual_add" && step.operation->name != "elementwise.add") return false;
    return std::ranges::all_of(step.operands, [&](const BoundOperand& bound) {
      return sums_.is_whole(bound.operand) && bound.operand.shape == step.find("y")->shape &&
             circuit_.tensors[static_cast<std::size_t>(bound.operand.tensor)].storage != Storage::weight;
    });
  }

  Result<void> pass_on(const Step& step) {
    const Operand derivative = TRY(sums_.read(*step.find("y")));
    for (const BoundOperand& bound : step.operands) {
      if (!is_written_field(step, bound) && depends(bound.operand)) sums_.pass_on(bound.operand, derivative);
    }
    return {};
  }

  // Of a backward operation's field "dx": what the forward step read as x. Null where it is none, or x was left out.
  static const Operand* differentiated(const Step& step, const FieldInformation& field) {
    return field.name.starts_with("d") ? step.find(field.name.substr(1)) : nullptr;
  }

  bool gives_weights_alone(const Step& step, const Operation& backward) const {
    return std::ranges::all_of(backward.fields, [&](const FieldInformation& field) {
      const Operand* by = is_written(field.role) ? differentiated(step, field) : nullptr;
      return by == nullptr || circuit_.tensors[static_cast<std::size_t>(by->tensor)].storage == Storage::weight;
    });
  }

  bool is_wanted(const Step& step, const Operation& backward) const {
    return std::ranges::any_of(backward.fields, [&](const FieldInformation& field) {
      const Operand* by = is_written(field.role) ? differentiated(step, field) : nullptr;
      return by != nullptr && depends(*by);
    });
  }

  Result<void> answer_by(std::size_t index, const Step& step, const Operation& backward) {
    Step answer{.operation = &backward, .name = gradient_name(step.name), .layer = step.layer};
    const std::unique_ptr<Invocation> defaults = step.operation->empty();
    for (std::size_t number = 0; number < backward.fields.size(); ++number) {
      const FieldInformation& field = backward.fields[number];
      const int position = static_cast<int>(number);
      const int same = step.operation->field_index(field.name);
      if (!field.is_tensor) {
        answer.attributes.push_back({position, attribute_of(step, same, *defaults)});
        continue;
      }
      const Operand operand = TRY(operand_for(index, step, field, same));
      if (operand.is_present()) answer.operands.push_back({position, operand});
    }
    circuit_.steps.push_back(std::move(answer));
    sums_.flush();
    return {};
  }

  static AttributeValue attribute_of(const Step& step, int field, const Invocation& defaults) {
    for (const BoundAttribute& bound : step.attributes) {
      if (bound.field == field) return bound.value;
    }
    return defaults.attribute(field);
  }

  Result<Operand> operand_for(std::size_t index, const Step& step, const FieldInformation& field, int same) {
    if (is_written(field.role)) {
      const Operand* by = differentiated(step, field);
      if (by == nullptr) return Operand{};
      return depends(*by) ? sums_.place(*by) : sums_.unwanted(*by);
    }
    if (same >= 0) {
      if (step.operation->fields[static_cast<std::size_t>(same)].role == Role::saved) return saved(index, same);
      const Operand* read = step.find(field.name);
      return read == nullptr ? Operand{} : recomputation_.again(*read);
    }
    const Operand* written = differentiated(step, field);
    if (written != nullptr && sums_.has(*written)) return sums_.read(*written);
    if (field.presence == Presence::optional) return Operand{};
    return Error::of(ErrorCode::unsupported, step.name, ": expected a derivative by '", field.name.substr(1), "' for ",
                     field.name, ", found that nothing depends on it");
  }

  // What the forward step keeps for its backward one, made a tensor now that it is wanted.
  Result<Operand> saved(std::size_t index, int field) {
    Step& step = circuit_.steps[index];
    const std::string_view name = step.operation->fields[static_cast<std::size_t>(field)].name;
    if (const Operand* kept = step.find(name)) return *kept;
    // Always one number a row: of the tensor it is named after ("q_rstd"), or of the operation's main one.
    const std::array<std::string_view, 4> candidates = {name.substr(0, name.rfind('_')), "x", "y", "logits"};
    for (const std::string_view candidate : candidates) {
      const Operand* of = step.find(candidate);
      if (of == nullptr) continue;
      const Shape shape(std::span(of->shape.begin(), of->shape.end() - 1));
      const std::string full = step.name + "." + std::string(name);
      circuit_.tensors.push_back({.name = full, .storage = Storage::activation, .dtype = DType::f32, .shape = shape});
      const int tensor = static_cast<int>(circuit_.tensors.size()) - 1;
      const Operand operand = {tensor, shape, contiguous_byte_strides(DType::f32, shape), 0};
      step.operands.push_back({field, operand});
      return operand;
    }
    return Error::of(ErrorCode::unsupported, step.name, ": expected to know the shape of '", name, "' of ",
                     step.operation->name, ", found no rule for it");
  }

  Circuit& circuit_;
  GradientSums sums_;
  Recomputation recomputation_;
  std::vector<bool> depends_;
};

// Which tensors a backward pass reads that computes nothing again.
Result<std::vector<bool>> tensors_read_by_backward(Circuit circuit, int loss, const WeightNames& trained) {
  std::vector<bool> is_read(circuit.tensors.size(), false);
  const std::size_t forward_steps = circuit.steps.size();
  TRY(Reversal(circuit, trained, {.recompute = Recompute::nothing}).run(loss));
  for (std::size_t index = forward_steps; index < circuit.steps.size(); ++index) {
    for (const BoundOperand& bound : circuit.steps[index].operands) {
      const auto tensor = static_cast<std::size_t>(bound.operand.tensor);
      if (tensor < is_read.size()) is_read[tensor] = true;
    }
  }
  return is_read;
}

}  // namespace

Result<BackwardPass> append_backward(Circuit& circuit, std::string_view loss, const WeightNames& trained,
                                     const BackwardOptions& options) {
  const auto found = std::ranges::find(circuit.tensors, loss, &CircuitTensor::name);
  if (found == circuit.tensors.end()) {
    return Error::of(ErrorCode::not_found, "expected a tensor ", loss, " to differentiate, found none");
  }
  const int index = static_cast<int>(found - circuit.tensors.begin());
  if (options.recompute == Recompute::nothing) return Reversal(circuit, trained, options).run(index);
  const std::vector<bool> is_read = TRY(tensors_read_by_backward(circuit, index, trained));
  return Reversal(circuit, trained, options, is_read).run(index);
}

}  // namespace ingot
