#include "train/adapters.h"

#include <algorithm>
#include <cmath>

#include "base/random.h"
#include "kernels/all_operations.h"

namespace ingot {
namespace {

std::string first_name(std::string_view weight) { return std::string(weight) + ".lora_a"; }
std::string second_name(std::string_view weight) { return std::string(weight) + ".lora_b"; }

bool is_target(std::string_view name, const AdapterOptions& options) {
  return std::ranges::any_of(options.targets, [&](const std::string& target) {
    return name.ends_with("." + target + ".weight") || name == target + ".weight";
  });
}

const float* floats_of(const Weights& weights, const std::string& name) {
  return reinterpret_cast<const float*>(weights.find(name)->data());
}

class Insertion {
 public:
  Insertion(Circuit& circuit, const Weights& weights, const AdapterOptions& options)
      : circuit_(circuit), weights_(weights), options_(options) {}

  void run() {
    std::vector<Step> steps;
    steps.swap(circuit_.steps);
    for (Step& step : steps) {
      const Operand* weight = step.operation->name == "linear.matmul" ? step.find("weights") : nullptr;
      if (weight == nullptr || !has_adapter(weights_, tensor(*weight).name)) {
        circuit_.steps.push_back(std::move(step));
      } else {
        adapt(std::move(step));
      }
    }
  }

 private:
  const CircuitTensor& tensor(const Operand& operand) const {
    return circuit_.tensors[static_cast<std::size_t>(operand.tensor)];
  }

  Operand add(CircuitTensor added) {
    const Shape shape = added.shape;
    circuit_.tensors.push_back(std::move(added));
    return {static_cast<int>(circuit_.tensors.size()) - 1, shape, contiguous_byte_strides(DType::f32, shape), 0};
  }
  Operand add_activation(const std::string& name, const Shape& shape) {
    return add({.name = name, .storage = Storage::activation, .dtype = DType::f32, .shape = shape});
  }
  Operand add_weight(const std::string& name) {
    const ConstAnyView& view = *weights_.find(name);
    return add({.name = name, .storage = Storage::weight, .dtype = DType::f32, .shape = view.shape(), .weight = view});
  }

  void call(std::string_view operation, const std::string& name, int layer,
            std::initializer_list<std::pair<std::string_view, Operand>> operands) {
    Step step{.operation = find_operation(operation), .name = name, .layer = layer};
    for (const auto& [field, operand] : operands)
      step.operands.push_back({step.operation->field_index(field), operand});
    circuit_.steps.push_back(std::move(step));
  }

  void adapt(Step step) {
    const std::string weight = tensor(*step.find("weights")).name;
    const std::string name = step.name;
    const int layer = step.layer;
    const Operand x = *step.find("x");
    const Operand y = *step.find("y");
    const Operand first = add_weight(first_name(weight));
    const Operand second = add_weight(second_name(weight));
    const Operand plain = add_activation(name + ".base", y.shape);
    const Operand narrow = add_activation(name + ".narrow", {x.shape[0], options_.rank});
    const Operand wide = add_activation(name + ".wide", y.shape);
    const Operand scaled = add_activation(name + ".adapter", y.shape);
    for (BoundOperand& bound : step.operands) {
      if (bound.field == step.operation->field_index("y")) bound.operand = plain;
    }
    circuit_.steps.push_back(std::move(step));
    call("linear.matmul", name + ".narrow", layer, {{"x", x}, {"weights", first}, {"y", narrow}});
    call("linear.matmul", name + ".wide", layer, {{"x", narrow}, {"weights", second}, {"y", wide}});
    call("elementwise.scale", name + ".adapter", layer, {{"x", wide}, {"y", scaled}});
    Step& scale = circuit_.steps.back();
    scale.attributes.push_back(
        {scale.operation->field_index("factor"), options_.alpha / static_cast<double>(options_.rank)});
    call("elementwise.add", name, layer, {{"a", plain}, {"b", scaled}, {"y", y}});
  }

  Circuit& circuit_;
  const Weights& weights_;
  const AdapterOptions& options_;
};

}  // namespace

bool has_adapter(const Weights& weights, std::string_view name) { return weights.has(first_name(name)); }

Result<AdaptedWeights> add_adapters(const Weights& base, const AdapterOptions& options) {
  if (options.rank < 1) {
    return Error::of(ErrorCode::invalid_argument, "expected adapters of rank 1 or more, found ", options.rank);
  }
  AdaptedWeights adapted;
  RandomNumbers random(options.seed);
  for (const auto& [name, view] : base.all()) TRY(adapted.weights.add(name, view));
  for (const auto& [name, view] : base.all()) {
    if (!is_target(name, options) || view.rank() != 2) continue;
    const AnyView first = TRY(adapted.weights.add_owned(first_name(name), DType::f32, {options.rank, view.size(1)}));
    TRY(adapted.weights.add_owned(second_name(name), DType::f32, {view.size(0), options.rank}));
    const double deviation = 1 / std::sqrt(static_cast<double>(view.size(1)));
    auto* values = reinterpret_cast<float*>(first.data());
    for (std::int64_t index = 0; index < first.count(); ++index) {
      values[index] = static_cast<float>(deviation * random.normal());
    }
    adapted.adapters.insert({first_name(name), second_name(name)});
  }
  if (adapted.adapters.empty()) {
    return Error::of(ErrorCode::not_found,
                     "lora_targets: expected names of the model's matrices such as attn_q, found ",
                     options.targets.empty() ? "none" : options.targets[0]);
  }
  return adapted;
}

Result<void> insert_adapters(Circuit& circuit, const Weights& weights, const AdapterOptions& options) {
  Insertion(circuit, weights, options).run();
  return {};
}

void merge_adapter(const Weights& weights, std::string_view name, const AdapterOptions& options,
                   std::span<float> target) {
  const ConstAnyView& base = *weights.find(name);
  decode_all(base, target.data());
  const float* first = floats_of(weights, first_name(name));
  const float* second = floats_of(weights, second_name(name));
  const double factor = options.alpha / static_cast<double>(options.rank);
  const std::int64_t columns = base.size(1);
  for (std::int64_t row = 0; row < base.size(0); ++row) {
    for (std::int64_t column = 0; column < columns; ++column) {
      double sum = 0;
      for (std::int64_t index = 0; index < options.rank; ++index) {
        sum += double{second[row * options.rank + index]} * first[index * columns + column];
      }
      float& value = target[static_cast<std::size_t>(row * columns + column)];
      value = static_cast<float>(value + factor * sum);
    }
  }
}

}  // namespace ingot
