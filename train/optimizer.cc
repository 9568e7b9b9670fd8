#include "train/optimizer.h"

#include <array>
#include <cmath>

#include "kernels/all_operations.h"

namespace ingot {
namespace {

// In the order of OptimizerKind.
struct OptimizerRow {
  std::string_view operation;
  std::array<std::string_view, 2> memories;  // names of the operation's fields
};
constexpr OptimizerRow rows[] = {
    {"optimizer.adamw", {"first_moment", "second_moment"}},
    {"optimizer.adam", {"first_moment", "second_moment"}},
    {"optimizer.lion", {"momentum", ""}},
    {"optimizer.sgd", {"buffer", ""}},
};

const OptimizerRow& row_of(OptimizerKind kind) { return rows[static_cast<std::size_t>(kind)]; }

View<float> slice(const View<float>& all, std::int64_t begin, std::int64_t end) {
  return View<float>(all.data() + begin, {end - begin});
}

}  // namespace

Result<Optimizer> Optimizer::create(const Parameters& parameters, const OptimizerOptions& options,
                                    const KernelTable& table) {
  if (!(options.clip_norm >= 0) || !std::isfinite(options.clip_norm)) {
    return Error::of(ErrorCode::invalid_argument, "expected a norm to clip gradients to, or 0, found ",
                     std::to_string(options.clip_norm));
  }
  Optimizer optimizer(options, table);
  const bool has_memory = options.kind != OptimizerKind::sgd || options.momentum != 0;
  for (const std::string_view name : row_of(options.kind).memories) {
    if (name.empty() || !has_memory) continue;
    const Bytes bytes(static_cast<std::size_t>(parameters.values().count()) * sizeof(float));
    optimizer.memories_.push_back({name, TRY(Memory::allocate(bytes))});
  }
  return optimizer;
}

Result<void> Optimizer::run(std::string_view name, Invocation& invocation, Workers& workers) {
  const Operation& operation = *find_operation(name);
  const int variant = table_->choose(operation, invocation);
  if (variant < 0) return Error::of(ErrorCode::unsupported, "expected a variant of ", name, ", found none");
  TRY(invocation.check());
  const std::size_t scratch = invocation.scratch_bytes(variant, workers.count());
  if (scratch_.size() < scratch) scratch_ = TRY(Memory::allocate(Bytes(scratch)));
  Context context{workers, scratch_.bytes()};
  invocation.run(variant, context);
  return {};
}

Result<double> Optimizer::update(const Parameters& parameters, std::int64_t step, double learning_rate,
                                 Workers& workers) {
  float norm = 0;
  const View<float> norm_view(&norm, {1});
  const std::unique_ptr<Invocation> measure = find_operation("optimizer.global_norm")->empty();
  TRY(measure->set_tensor(0, AnyView(parameters.gradients())));
  TRY(measure->set_tensor(1, AnyView(norm_view)));
  TRY(run("optimizer.global_norm", *measure, workers));
  if (!std::isfinite(norm)) {
    return Error::of(ErrorCode::corrupt, "step ", step, ": expected gradients that are numbers, found a norm of ",
                     std::to_string(norm), ": lower the learning rate or clip gradients");
  }
  if (options_.clip_norm > 0 && norm > options_.clip_norm) {
    const Operation& operation = *find_operation("optimizer.clip_by_norm");
    const std::unique_ptr<Invocation> clip = operation.empty();
    TRY(clip->set_tensor(operation.field_index("norm"), AnyView(norm_view)));
    TRY(clip->set_tensor(operation.field_index("x"), AnyView(parameters.gradients())));
    clip->set_attribute(operation.field_index("max_norm"), options_.clip_norm);
    TRY(run(operation.name, *clip, workers));
  }
  const std::int64_t decaying = parameters.decaying();
  TRY(update_range(parameters, 0, decaying, options_.weight_decay, step, learning_rate, workers));
  TRY(update_range(parameters, decaying, parameters.values().count(), 0, step, learning_rate, workers));
  return norm;
}

Result<void> Optimizer::update_range(const Parameters& parameters, std::int64_t begin, std::int64_t end, double decay,
                                     std::int64_t step, double learning_rate, Workers& workers) {
  if (begin == end) return {};
  const Operation& operation = *find_operation(row_of(options_.kind).operation);
  const std::unique_ptr<Invocation> invocation = operation.empty();
  const auto set_tensor = [&](std::string_view field, const View<float>& view) {
    return invocation->set_tensor(operation.field_index(field), AnyView(slice(view, begin, end)));
  };
  TRY(set_tensor("gradient", parameters.gradients()));
  TRY(set_tensor("parameters", parameters.values()));
  for (const OptimizerMemory& memory : memories_) {
    TRY(set_tensor(memory.name,
                   View<float>(reinterpret_cast<float*>(memory.memory.data()), parameters.values().shape())));
  }
  const auto set_number = [&](std::string_view field, const AttributeValue& value) {
    const int index = operation.field_index(field);
    if (index >= 0 && !operation.fields[static_cast<std::size_t>(index)].is_tensor) {
      invocation->set_attribute(index, value);
    }
  };
  set_number("learning_rate", learning_rate);
  set_number("beta1", options_.beta1);
  set_number("beta2", options_.beta2);
  set_number("epsilon", options_.epsilon);
  if (options_.kind == OptimizerKind::sgd) set_number("momentum", options_.momentum);
  set_number("weight_decay", decay);
  set_number("step", step);
  return run(operation.name, *invocation, workers);
}

std::size_t Optimizer::bytes() const {
  std::size_t sum = 0;
  for (const OptimizerMemory& memory : memories_) sum += memory.memory.size();
  return sum;
}

}  // namespace ingot
