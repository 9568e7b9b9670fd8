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

// Where a step runs. What crosses is brought from the host to the device: it has no variant, the queue does it.
enum class StepPlace : std::uint8_t { host, crossing, device };

std::string_view name_of(StepPlace place);

class Plan {
 public:
  // Fails where no variant takes an operation's arguments.
  static Result<Plan> create(Circuit circuit, const KernelTable& table, int threads, const GradientPlaces& places = {});
  // On a device, but for steps all of whose tensors stay on the host: those come first, and `host_table` has their
  // variants (model/plan/split.h). Precondition: the other table is one of that device.
  static Result<Plan> create(Circuit circuit, const KernelTable& table, int threads, Place place,
                             const KernelTable* host_table = nullptr);

  const Circuit& circuit() const { return circuit_; }
  std::int64_t arena_bytes() const { return arena_.bytes; }
  std::int64_t host_arena_bytes() const { return host_arena_.bytes; }  // of tensors that stay on the host
  std::int64_t unshared_bytes() const { return liveness_.unshared_bytes; }
  std::int64_t live_bytes() const { return arena_.live_bytes; }  // no arena can be smaller
  const Liveness& liveness() const { return liveness_; }
  std::size_t scratch_bytes() const { return scratch_bytes_; }
  std::size_t host_scratch_bytes() const { return host_scratch_bytes_; }
  // The first steps, which run on the host where the others run on a device.
  std::size_t host_steps() const { return host_steps_; }
  StepPlace place(std::size_t step) const {
    if (steps_[step].variant < 0) return StepPlace::crossing;
    return place_.is_host() || step < host_steps_ ? StepPlace::host : StepPlace::device;
  }
  std::string_view variant_name(std::size_t step) const;
  const Invocation& invocation(std::size_t step) const { return *steps_[step].invocation; }

  // Where a cache, a state or a gradient without a place lies, and on a device a weight. Its memory has the tensor's
  // shape, packed.
  using Locate = std::function<std::byte*(const CircuitTensor&)>;
  // Binds every operand. The arena has arena_bytes(), aligned to arena_alignment; so has the host's, where there is
  // one.
  Result<void> bind(std::byte* arena, const Locate& locate, std::byte* host_arena = nullptr);
  // Binds states alone: a pass may concern other sequences than the last one.
  Result<void> bind_states(const Locate& locate);

  // An input or output of the pass, by name; on a device, where it lies there. Precondition: bound, and the circuit has
  // it.
  AnyView tensor(std::string_view name) const;
  // Where in the arena an input lies; -1: the circuit has none of that name.
  std::int64_t input_offset(std::string_view name) const;
  // On a device the inputs are the first bytes of the arena, as many as this: one copy brings all of them.
  std::int64_t input_bytes() const { return input_bytes_; }

  // Called after each step with its index.
  using Observer = std::function<void(std::size_t step)>;
  // Precondition: bound; the context's scratch has scratch_bytes(). The first run checks every step's arguments against
  // its contract right before it runs; later runs differ only in the data of inputs, which the session vouches for.
  Result<void> run(Context& context, const Observer* observer = nullptr);
  // What goes before it where there are steps of the host: `inputs` are the bytes that the arena begins with. The
  // context is the host's, with host_scratch_bytes(). Precondition: what crossed before has crossed.
  Result<void> run_host_steps(const std::byte* inputs, Context& context, const Observer* observer = nullptr);

 private:
  struct PlannedStep {
    std::unique_ptr<Invocation> invocation;
    int variant = -1;
  };
  // The tables of device and host are one where all steps are the host's.
  struct Tables {
    const KernelTable& table;
    const KernelTable& of_host;
  };
  static Result<Plan> create(Circuit circuit, const Tables& tables, int threads, const GradientPlaces& places,
                             Place place);
  Plan() = default;
  // Puts the inputs' buffers one behind the other, to the arena's beginning.
  void lead_with_inputs();
  void lay_out_arenas();
  // So that a pass asks for none of its inputs by going through all tensors of a model.
  void note_ends();
  // An input or output of the pass by its name; -1: there is none.
  int find_end(std::string_view name) const;
  Result<void> choose_variant(std::size_t step, const Tables& tables, int threads);
  Place place_of(const CircuitTensor& tensor) const { return tensor.is_on_host ? Place::host : place_; }
  void cross(const Step& step, Queue& queue) const;
  Result<void> run_steps(std::size_t begin, std::size_t end, Context& context, const Observer* observer);
  Result<void> bind_operand(std::size_t step, const BoundOperand& bound, std::byte* data);

  Circuit circuit_;
  std::vector<PlannedStep> steps_;
  std::vector<std::int64_t> offsets_;  // of each tensor in the arena; -1: elsewhere
  std::vector<int> ends_;              // inputs and outputs of the pass, where it runs
  struct StateOperand {
    std::size_t step = 0;
    const BoundOperand* bound = nullptr;
  };
  std::vector<StateOperand> state_operands_;
  Liveness liveness_;
  ArenaLayout arena_;
  ArenaLayout host_arena_;
  std::int64_t input_bytes_ = 0;
  std::size_t scratch_bytes_ = 0;
  std::size_t host_scratch_bytes_ = 0;
  std::size_t host_steps_ = 0;
  Place place_;
  std::vector<std::string> labels_;  // of steps, for a device's queue to name; none on the host
  std::byte* memory_ = nullptr;
  std::byte* host_memory_ = nullptr;
  bool checked_ = false;
};

}  // namespace ingot
