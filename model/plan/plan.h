// Plan: a circuit for one shape of pass, ready to run. Order, variants and memory are decided here, once; running it is
// a loop.
//
// Activations, inputs and outputs lie in one arena that the caller owns, so that plans of several shapes share it, and
// so do gradients that the caller has places for in it. Caches and states belong to a session: a plan is bound to them
// before it runs.
#pragma once

#include <functional>

#include "kernels/contract/table.h"
#include "model/circuit/circuit.h"
#include "model/plan/liveness.h"

namespace ingot {

class Plan {
 public:
  // Fails where no variant takes an operation's arguments.
  static Result<Plan> create(Circuit circuit, const KernelTable& table, int threads, const GradientPlaces& places = {});

  const Circuit& circuit() const { return circuit_; }
  std::int64_t arena_bytes() const { return arena_.bytes; }
  std::int64_t unshared_bytes() const { return liveness_.unshared_bytes; }
  std::int64_t live_bytes() const { return arena_.live_bytes; }  // no arena can be smaller
  const Liveness& liveness() const { return liveness_; }
  std::size_t scratch_bytes() const { return scratch_bytes_; }
  std::string_view variant_name(std::size_t step) const;
  const Invocation& invocation(std::size_t step) const { return *steps_[step].invocation; }

  // Where a cache, a state or a gradient without a place lies. Its memory has the tensor's shape, packed.
  using Locate = std::function<std::byte*(const CircuitTensor&)>;
  // Binds every operand. The arena has arena_bytes(), aligned to arena_alignment.
  Result<void> bind(std::byte* arena, const Locate& locate);
  // Binds states alone: a pass may concern other sequences than the last one.
  Result<void> bind_states(const Locate& locate);

  // An input or output of the pass, by name. Precondition: bound, and the circuit has it.
  AnyView tensor(std::string_view name) const;

  // Called after each step with its index.
  using Observer = std::function<void(std::size_t step)>;
  // Precondition: bound; the context's scratch has scratch_bytes(). The first run checks every step's arguments against
  // its contract right before it runs; later runs differ only in the data of inputs, which the session vouches for.
  Result<void> run(Context& context, const Observer* observer = nullptr);

 private:
  struct PlannedStep {
    std::unique_ptr<Invocation> invocation;
    int variant = -1;
  };
  Plan() = default;
  Result<void> bind_operand(std::size_t step, const BoundOperand& bound, std::byte* data);

  Circuit circuit_;
  std::vector<PlannedStep> steps_;
  std::vector<std::int64_t> offsets_;  // of each tensor in the arena; -1: elsewhere
  Liveness liveness_;
  ArenaLayout arena_;
  std::size_t scratch_bytes_ = 0;
  std::byte* memory_ = nullptr;
  bool checked_ = false;
};

}  // namespace ingot
