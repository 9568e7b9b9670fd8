#include "model/plan/plan.h"

#include <algorithm>
#include <cstring>

#include "kernels/contract/call_queue.h"
#include "machine/gpu/queue.h"

namespace ingot {
namespace {

// Where a device fails, this is what is told of the step: "attn_q.0, linear.matmul by cuda, x [1, 64] weights [64,
// 64]". Twice in one text, with what the driver says behind it.
std::string label_of(const Step& step, std::string_view variant) {
  FixedText<110> text;
  text.append_all(std::string_view(step.name), ", ", step.operation->name, " by ", variant, ',');
  for (const BoundOperand& bound : step.operands) {
    text.append_all(' ', step.operation->fields[static_cast<std::size_t>(bound.field)].name, ' ', bound.operand.shape);
  }
  return std::string(text.view());
}

}  // namespace

std::string_view name_of(StepPlace place) {
  return place == StepPlace::host ? "host" : place == StepPlace::device ? "device" : "crossing";
}

Result<Plan> Plan::create(Circuit circuit, const KernelTable& table, int threads, const GradientPlaces& places) {
  return create(std::move(circuit), {table, table}, threads, places, Place::host);
}

Result<Plan> Plan::create(Circuit circuit, const KernelTable& table, int threads, Place place,
                          const KernelTable* host_table) {
  return create(std::move(circuit), {table, host_table == nullptr ? table : *host_table}, threads, {}, place);
}

Result<Plan> Plan::create(Circuit circuit, const Tables& tables, int threads, const GradientPlaces& places,
                          Place place) {
  Plan plan;
  plan.place_ = place;
  plan.circuit_ = std::move(circuit);
  plan.liveness_ = liveness_of(plan.circuit_, places);
  if (!place.is_host()) plan.lead_with_inputs();
  plan.lay_out_arenas();
  plan.note_ends();

  // Variants are chosen by shape: any address will do, and none is read.
  alignas(256) static std::byte nowhere[256];
  for (std::size_t index = 0; index < plan.circuit_.steps.size(); ++index) {
    const Step& step = plan.circuit_.steps[index];
    plan.steps_.push_back({step.operation->empty(), -1});
    Invocation& invocation = *plan.steps_.back().invocation;
    for (const BoundAttribute& bound : step.attributes) invocation.set_attribute(bound.field, bound.value);
    for (const BoundOperand& bound : step.operands) TRY(plan.bind_operand(index, bound, nowhere));
    TRY(plan.choose_variant(index, tables, threads));
    if (!place.is_host()) plan.labels_.push_back(label_of(step, plan.variant_name(index)));
  }
  return plan;
}

Result<void> Plan::choose_variant(std::size_t index, const Tables& tables, int threads) {
  const Step& step = circuit_.steps[index];
  const auto of_host = std::ranges::count_if(step.operands, [&](const BoundOperand& bound) {
    return circuit_.tensors[static_cast<std::size_t>(bound.operand.tensor)].is_on_host;
  });
  const bool is_of_host = of_host > 0 && of_host == std::ssize(step.operands);
  if (of_host > 0 && !is_of_host) return {};  // it crosses
  if (is_of_host) host_steps_ = index + 1;
  const Invocation& invocation = *steps_[index].invocation;
  const int variant = (is_of_host ? tables.of_host : tables.table).choose(*step.operation, invocation);
  if (variant < 0) {
    return Error::of(ErrorCode::unsupported, step.name, ": expected a variant of ", step.operation->name,
                     " that takes these arguments, found none");
  }
  steps_[index].variant = variant;
  std::size_t& scratch = is_of_host ? host_scratch_bytes_ : scratch_bytes_;
  scratch = std::max(scratch, invocation.scratch_bytes(variant, threads));
  return {};
}

void Plan::lay_out_arenas() {
  const bool is_split = std::ranges::any_of(circuit_.tensors, &CircuitTensor::is_on_host);
  std::vector<BufferLife> of_device = liveness_.buffers;
  std::vector<BufferLife> of_host = liveness_.buffers;
  // Buffers of the one take no bytes of the other.
  for (std::size_t index = 0; is_split && index < circuit_.tensors.size(); ++index) {
    if (liveness_.buffer_of[index] < 0) continue;
    const auto buffer = static_cast<std::size_t>(liveness_.buffer_of[index]);
    BufferLife& elsewhere = (circuit_.tensors[index].is_on_host ? of_device : of_host)[buffer];
    elsewhere.bytes = 0;
    elsewhere.place = -1;
  }
  arena_ = lay_out(of_device);
  if (is_split) host_arena_ = lay_out(of_host);
  for (std::size_t index = 0; index < circuit_.tensors.size(); ++index) {
    const ArenaLayout& arena = circuit_.tensors[index].is_on_host ? host_arena_ : arena_;
    const int buffer = liveness_.buffer_of[index];
    offsets_.push_back(buffer < 0 ? -1 : arena.offsets[static_cast<std::size_t>(buffer)]);
  }
}

void Plan::note_ends() {
  for (std::size_t index = 0; index < circuit_.tensors.size(); ++index) {
    const CircuitTensor& tensor = circuit_.tensors[index];
    const bool is_end = tensor.storage == Storage::input || tensor.storage == Storage::output;
    if (is_end && !tensor.is_on_host) ends_.push_back(static_cast<int>(index));
  }
  for (std::size_t step = 0; step < circuit_.steps.size(); ++step) {
    for (const BoundOperand& bound : circuit_.steps[step].operands) {
      const CircuitTensor& tensor = circuit_.tensors[static_cast<std::size_t>(bound.operand.tensor)];
      if (tensor.storage == Storage::state) state_operands_.push_back({step, &bound});
    }
  }
}

int Plan::find_end(std::string_view name) const {
  const auto has_name = [&](int tensor) { return circuit_.tensors[static_cast<std::size_t>(tensor)].name == name; };
  const auto found = std::ranges::find_if(ends_, has_name);
  return found == ends_.end() ? -1 : *found;
}

void Plan::lead_with_inputs() {
  for (std::size_t index = 0; index < circuit_.tensors.size(); ++index) {
    const CircuitTensor& tensor = circuit_.tensors[index];
    if (tensor.storage != Storage::input || tensor.is_on_host || liveness_.buffer_of[index] < 0) continue;
    BufferLife& buffer = liveness_.buffers[static_cast<std::size_t>(liveness_.buffer_of[index])];
    buffer.place = input_bytes_;
    input_bytes_ += divide_rounding_up(buffer.bytes, arena_alignment) * arena_alignment;
  }
}

Result<void> Plan::bind_operand(std::size_t step, const BoundOperand& bound, std::byte* data) {
  const CircuitTensor& tensor = circuit_.tensors[static_cast<std::size_t>(bound.operand.tensor)];
  const AnyView view(data + bound.operand.byte_offset, tensor.dtype, bound.operand.shape, bound.operand.byte_strides,
                     place_of(tensor));
  const Result<void> set = steps_[step].invocation->set_tensor(bound.field, view);
  if (set.ok()) return {};
  return set.error().within(circuit_.steps[step].name);
}

Result<void> Plan::bind(std::byte* arena, const Locate& locate, std::byte* host_arena) {
  memory_ = arena;
  host_memory_ = host_arena;
  for (std::size_t index = 0; index < steps_.size(); ++index) {
    for (const BoundOperand& bound : circuit_.steps[index].operands) {
      const CircuitTensor& tensor = circuit_.tensors[static_cast<std::size_t>(bound.operand.tensor)];
      const std::int64_t offset = offsets_[static_cast<std::size_t>(bound.operand.tensor)];
      // A weight is only read: no field that is written can hold one, or the step's check refuses it.
      const bool is_of_file = tensor.storage == Storage::weight && place_of(tensor).is_host();
      std::byte* data = is_of_file    ? const_cast<std::byte*>(tensor.weight.data())
                        : offset >= 0 ? (tensor.is_on_host ? host_arena : arena) + offset
                                      : locate(tensor);
      TRY(bind_operand(index, bound, data));
    }
  }
  return {};
}

Result<void> Plan::bind_states(const Locate& locate) {
  for (const auto& [step, bound] : state_operands_) {
    const CircuitTensor& tensor = circuit_.tensors[static_cast<std::size_t>(bound->operand.tensor)];
    TRY(bind_operand(step, *bound, locate(tensor)));
  }
  return {};
}

std::string_view Plan::variant_name(std::size_t step) const {
  if (place(step) == StepPlace::crossing) return "queue";
  return circuit_.steps[step].operation->variants[static_cast<std::size_t>(steps_[step].variant)].name;
}

AnyView Plan::tensor(std::string_view name) const {
  const int index = find_end(name);
  if (index < 0 || offsets_[static_cast<std::size_t>(index)] < 0) return {};
  const CircuitTensor& tensor = circuit_.tensors[static_cast<std::size_t>(index)];
  return AnyView(memory_ + offsets_[static_cast<std::size_t>(index)], tensor.dtype, tensor.shape,
                 contiguous_byte_strides(tensor.dtype, tensor.shape), place_);
}

std::int64_t Plan::input_offset(std::string_view name) const {
  const int index = find_end(name);
  return index < 0 ? -1 : offsets_[static_cast<std::size_t>(index)];
}

void Plan::cross(const Step& step, Queue& queue) const {
  const auto from = static_cast<std::size_t>(step.find("x")->tensor);
  const auto to = static_cast<std::size_t>(step.find("y")->tensor);
  const CircuitTensor& tensor = circuit_.tensors[to];
  queue.copy_in(memory_ + offsets_[to], host_memory_ + offsets_[from],
                static_cast<std::size_t>(row_bytes(tensor.dtype, element_count(tensor.shape))));
}

Result<void> Plan::run_steps(std::size_t begin, std::size_t end, Context& context, const Observer* observer) {
  for (std::size_t index = begin; index < end; ++index) {
    PlannedStep& step = steps_[index];
    if (context.queue != nullptr) context.queue->name_step(labels_[index]);
    if (place(index) == StepPlace::crossing) {
      cross(circuit_.steps[index], *context.queue);
    } else {
      if (!checked_) {
        const Result<void> sound = step.invocation->check();
        if (!sound.ok()) return sound.error().within(circuit_.steps[index].name);
      }
      if (context.calls != nullptr) {
        const Result<void> put = context.calls->put(*circuit_.steps[index].operation, *step.invocation);
        if (!put.ok()) return put.error().within(circuit_.steps[index].name);
      } else {
        step.invocation->run(step.variant, context);
      }
    }
    if (observer != nullptr) (*observer)(index);
  }
  if (context.queue != nullptr) context.queue->name_step({});  // this plan may be gone when the next work comes
  return {};
}

Result<void> Plan::run(Context& context, const Observer* observer) {
  TRY(run_steps(host_steps_, steps_.size(), context, observer));
  checked_ = true;
  return {};
}

Result<void> Plan::run_host_steps(const std::byte* inputs, Context& context, const Observer* observer) {
  for (std::size_t index = 0; index < circuit_.tensors.size(); ++index) {
    const CircuitTensor& tensor = circuit_.tensors[index];
    if (tensor.storage != Storage::input || !tensor.is_on_host) continue;
    std::memcpy(host_memory_ + offsets_[index], inputs + input_offset(tensor.name),
                static_cast<std::size_t>(row_bytes(tensor.dtype, element_count(tensor.shape))));
  }
  return run_steps(0, host_steps_, context, observer);
}

}  // namespace ingot
