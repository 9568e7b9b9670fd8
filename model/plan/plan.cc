#include "model/plan/plan.h"

#include <algorithm>

namespace ingot {

Result<Plan> Plan::create(Circuit circuit, const KernelTable& table, int threads, const GradientPlaces& places) {
  Plan plan;
  plan.circuit_ = std::move(circuit);
  plan.liveness_ = liveness_of(plan.circuit_, places);
  plan.arena_ = lay_out(plan.liveness_.buffers);
  for (const int buffer : plan.liveness_.buffer_of) {
    plan.offsets_.push_back(buffer < 0 ? -1 : plan.arena_.offsets[static_cast<std::size_t>(buffer)]);
  }

  // Variants are chosen by shape: any address will do, and none is read.
  alignas(64) static std::byte nowhere[64];
  for (std::size_t index = 0; index < plan.circuit_.steps.size(); ++index) {
    const Step& step = plan.circuit_.steps[index];
    plan.steps_.push_back({step.operation->empty(), -1});
    Invocation& invocation = *plan.steps_.back().invocation;
    for (const BoundAttribute& bound : step.attributes) invocation.set_attribute(bound.field, bound.value);
    for (const BoundOperand& bound : step.operands) TRY(plan.bind_operand(index, bound, nowhere));
    const int variant = table.choose(*step.operation, invocation);
    if (variant < 0) {
      return Error::of(ErrorCode::unsupported, step.name, ": expected a variant of ", step.operation->name,
                       " that takes these arguments, found none");
    }
    plan.steps_.back().variant = variant;
    plan.scratch_bytes_ = std::max(plan.scratch_bytes_, invocation.scratch_bytes(variant, threads));
  }
  return plan;
}

Result<void> Plan::bind_operand(std::size_t step, const BoundOperand& bound, std::byte* data) {
  const CircuitTensor& tensor = circuit_.tensors[static_cast<std::size_t>(bound.operand.tensor)];
  const AnyView view(data + bound.operand.byte_offset, tensor.dtype, bound.operand.shape, bound.operand.byte_strides);
  const Result<void> set = steps_[step].invocation->set_tensor(bound.field, view);
  if (set.ok()) return {};
  return set.error().within(circuit_.steps[step].name);
}

Result<void> Plan::bind(std::byte* arena, const Locate& locate) {
  memory_ = arena;
  for (std::size_t index = 0; index < steps_.size(); ++index) {
    for (const BoundOperand& bound : circuit_.steps[index].operands) {
      const CircuitTensor& tensor = circuit_.tensors[static_cast<std::size_t>(bound.operand.tensor)];
      const std::int64_t offset = offsets_[static_cast<std::size_t>(bound.operand.tensor)];
      // A weight is only read: no field that is written can hold one, or the step's check refuses it.
      std::byte* data = tensor.storage == Storage::weight ? const_cast<std::byte*>(tensor.weight.data())
                        : offset >= 0                     ? arena + offset
                                                          : locate(tensor);
      TRY(bind_operand(index, bound, data));
    }
  }
  return {};
}

Result<void> Plan::bind_states(const Locate& locate) {
  for (std::size_t index = 0; index < steps_.size(); ++index) {
    for (const BoundOperand& bound : circuit_.steps[index].operands) {
      const CircuitTensor& tensor = circuit_.tensors[static_cast<std::size_t>(bound.operand.tensor)];
      if (tensor.storage == Storage::state) TRY(bind_operand(index, bound, locate(tensor)));
    }
  }
  return {};
}

std::string_view Plan::variant_name(std::size_t step) const {
  return circuit_.steps[step].operation->variants[static_cast<std::size_t>(steps_[step].variant)].name;
}

AnyView Plan::tensor(std::string_view name) const {
  for (std::size_t index = 0; index < circuit_.tensors.size(); ++index) {
    const CircuitTensor& tensor = circuit_.tensors[index];
    if (tensor.name == name && offsets_[index] >= 0)
      return AnyView(memory_ + offsets_[index], tensor.dtype, tensor.shape);
  }
  return {};
}

Result<void> Plan::run(Context& context, const Observer* observer) {
  for (std::size_t index = 0; index < steps_.size(); ++index) {
    PlannedStep& step = steps_[index];
    if (!checked_) {
      const Result<void> sound = step.invocation->check();
      if (!sound.ok()) return sound.error().within(circuit_.steps[index].name);
    }
    step.invocation->run(step.variant, context);
    if (observer != nullptr) (*observer)(index);
  }
  checked_ = true;
  return {};
}

}  // namespace ingot
