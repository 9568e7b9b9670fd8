#include "train/adapters.h"

#include <algorithm>
#include <cmath>

#include "base/random.h"
#include "model/plan/adapters.h"

namespace ingot {
namespace {

std::string first_name(std::string_view weight) { return std::string(weight).append(first_adapter_suffix); }
std::string second_name(std::string_view weight) { return std::string(weight).append(second_adapter_suffix); }

// The table of embeddings never is: a head that reads it would have an addition that what is looked up has not, until
// it is merged.
bool is_target(std::string_view name, const AdapterOptions& options) {
  if (name == "token_embd.weight") return false;
  return std::ranges::any_of(options.targets, [&](const std::string& target) {
    return name.ends_with("." + target + ".weight") || name == target + ".weight";
  });
}

const float* floats_of(const Weights& weights, const std::string& name) {
  return reinterpret_cast<const float*>(weights.find(name)->data());
}

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

Result<void> add_adapters_to(Circuit& circuit, const Weights& weights, const AdapterOptions& options) {
  insert_adapters(circuit, [&](std::string_view name) -> std::vector<WeightAdapter> {
    if (!has_adapter(weights, name)) return {};
    return {{.first = *weights.find(first_name(name)),
             .second = *weights.find(second_name(name)),
             .factor = options.alpha / static_cast<double>(options.rank),
             .mark = {}}};
  });
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
