// What a session runs for a pass: circuits, the plans that are made of them, and where their tensors lie.
#include <algorithm>
#include <chrono>
#include <numeric>

#include "engine/session.h"
#include "model/plan/cache_lowering.h"
#include "model/plan/split.h"

namespace ingot {

Result<Circuit> Session::plain_circuit(const PassShape& pass) const {
  CircuitBuilder builder(model_->weights(), pass, {.longest = geometry_.longest_sequence()});
  model_->form().emit(builder);
  return builder.finish();
}

Result<Circuit> Session::rewritten_circuit(const PassShape& pass) const {
  Circuit circuit = TRY(plain_circuit(pass));
  const FindAdapters find = finder_of(options_.adapters, pass.adapters);
  const FindAdapters* const adapters = pass.adapters.empty() ? nullptr : &find;
  if (host_layers_ == 0) {
    TRY(apply_rewrites(circuit, device_table_ ? rewrites_of_device(adapters) : rewrites_of_host(adapters)));
    return circuit;
  }
  CircuitParts parts = split_layers(circuit, host_layers_);
  TRY(apply_rewrites(parts.host, rewrites_of_host(adapters)));
  TRY(apply_rewrites(parts.device, rewrites_of_device(adapters)));
  return join_parts(std::move(parts));
}

RewriteContext Session::rewrites_of_host(const FindAdapters* adapters) const {
  return {.cache = &geometry_,
          .adapters = adapters,
          .packed = &packed_,
          .fusion = options_.rewrites ? Fusion::all : Fusion::none,
          .neighbours = neighbours()};
}

RewriteContext Session::rewrites_of_device(const FindAdapters* adapters) const {
  RewriteContext context = rewrites_of_host(adapters);
  context.packed = nullptr;
  context.laid_out = device_ ? &device_->laid_out() : nullptr;
  // Who takes calls computes as a host does.
  context.is_for_device = device_table_->is_of_device();
  return context;
}

Result<void> Session::bind(Plan& plan) {
  if (device_) {
    for (const CircuitTensor& tensor : plan.circuit().tensors) {
      if (tensor.storage == Storage::weight && !tensor.is_on_host) TRY(device_->weight(tensor));
    }
  }
  std::byte* const arena = device_ ? device_->arena() : arena_.data();
  const auto locate = [&](const CircuitTensor& tensor) {
    if (tensor.storage == Storage::weight) return device_->weight(tensor).value();
    if (tensor.storage == Storage::cache) return memory_->cache(tensor);
    const auto run = static_cast<std::size_t>(tensor.run);
    // A plan may be looked at before it runs: then its states are nobody's.
    return run < sequences_of_runs_.size() ? memory_->state(tensor, sequences_of_runs_[run]) : arena;
  };
  return plan.bind(arena, locate, device_ ? device_->host_arena() : nullptr);
}

Result<void> Session::make_room(Plan& plan) {
  bool has_moved = false;
  const std::size_t scratch = device_ ? plan.host_scratch_bytes() : plan.scratch_bytes();
  if (scratch_.size() < scratch) scratch_ = TRY(Memory::allocate(Bytes(scratch)));
  if (device_) {
    has_moved = TRY(device_->make_room(plan));
  } else {
    const auto needed = static_cast<std::size_t>(plan.arena_bytes());
    has_moved = arena_.size() < needed;
    if (has_moved) arena_ = TRY(Memory::allocate(Bytes(needed)));
  }
  if (has_moved) TRY(plans_.for_each([this](Plan& kept) { return bind(kept); }));
  return bind(plan);
}

PassShape Session::planned_shape(const PassShape& pass) const {
  // A state is read and written by its own run's steps, and without a cache attention is its own run's too.
  if (memory_ == nullptr || memory_->has_states() || model_->facts().sees_the_future) return pass;
  const auto long_run =
      std::ranges::find_if(pass.runs, [&](std::int64_t tokens) { return is_prefill_run(tokens, neighbours()); });
  const std::int64_t decoded = std::accumulate(pass.runs.begin(), long_run, std::int64_t{0});
  PassShape shape{.runs = std::vector<std::int64_t>(static_cast<std::size_t>(decoded), 1),
                  .outputs = pass.outputs,
                  .adapters = pass.adapters};
  if (long_run == pass.runs.end()) return shape;
  shape.runs.push_back(std::accumulate(long_run, pass.runs.end(), std::int64_t{0}) - (pass.runs.end() - long_run - 1));
  shape.runs.insert(shape.runs.end(), static_cast<std::size_t>(pass.runs.end() - long_run - 1), 1);
  return shape;
}

void Session::forget_plans() {
  if (!device_) return;
  device_->recordings().forget();
  plans_.clear();
}

Result<Plan*> Session::plan_for(PassShape asked) {
  asked.adapters = options_.adapter_scales;
  return plan_with_adapters(asked);
}

Result<Plan*> Session::plan_with_adapters(const PassShape& asked) {
  const PassShape pass = planned_shape(asked);
  if (Plan* const found = plans_.find(pass)) return found;
  const auto begin = std::chrono::steady_clock::now();
  Circuit circuit = TRY(rewritten_circuit(pass));
  auto plan = std::make_unique<Plan>(
      TRY(device_ ? Plan::create(std::move(circuit), *device_table_, workers_->count(), device_->place(), table_.get())
                  : Plan::create(std::move(circuit), *table_, workers_->count())));
  if (const Result<void> made = make_room(*plan); !made.ok()) {
    forget_plans();
    return made.error();
  }
  Plan* const kept = plans_.add(pass, std::move(plan), [this](const Plan& forgotten) {
    if (device_) device_->recordings().forget(forgotten);
  });
  planning_seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return kept;
}

}  // namespace ingot
