// Explanation: what a pass of a model consists of, as data. Every step with its shapes, its least cost, the variant
// that runs it and why, what the machine's peaks would allow, what was measured; and where activations lie in the
// arena.
#pragma once

#include "engine/measure.h"
#include "machine/machine.h"
#include "profile/roofline.h"

namespace ingot {

struct ExplainedStep {
  std::string name;  // "blk.3.attn_q"
  int layer = -1;
  std::string operation;
  std::string family;
  std::string shapes;  // "x [1, 576] f32, weights [576, 576] q4_1 -> y [1, 576] f32"
  StepPlace place = StepPlace::host;
  std::string variant;
  std::string reason;  // why it and no other
  Cost cost;
  Traffic traffic;
  double least_seconds = 0;
  Roof roof = Roof::memory;
  double measured_seconds = 0;  // 0: not measured

  double intensity() const { return cost.bytes() > 0 ? cost.operations / cost.bytes() : 0; }
  // 0: not measured.
  double roofline_percent() const { return measured_seconds > 0 ? 100 * least_seconds / measured_seconds : 0; }
};

// A buffer of the arena, needed from step `first` to step `last`.
struct ExplainedBuffer {
  std::string name;
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
  std::size_t first = 0;
  std::size_t last = 0;
};

struct Explanation {
  ModelFacts facts;
  std::string processor;  // the CPU's name, or the device's
  bool is_on_device = false;
  std::int64_t host_layers = 0;  // of a pass on a device
  Peaks peaks;                   // of the processor
  PassRequest request;
  std::vector<ExplainedStep> steps;
  std::vector<AppliedRewrite> rewrites;  // that the steps are the result of
  std::vector<ExplainedBuffer> buffers;
  std::int64_t arena_bytes = 0;
  std::int64_t unshared_bytes = 0;  // what the arena would be if no buffers shared bytes
  std::int64_t scratch_bytes = 0;
  std::int64_t sequence_bytes = 0;  // the session's caches and states
  std::int64_t weight_bytes = 0;    // of the whole model
  bool is_measured = false;
  PassTiming timing;
};

// What a pass is compared with.
struct PassPeaks {
  PassPeaks() = default;
  PassPeaks(Peaks of_processor) : rates(of_processor) {}  // most have no others

  Peaks rates;                         // of what runs the session's passes
  Peaks of_host;                       // where layers stay on the host
  double upload_bytes_per_second = 0;  // and for what crosses then
};

// Measures the pass first where `repeats` is not 0.
Result<Explanation> explain(Session& session, const PassRequest& request, const Machine& machine,
                            const PassPeaks& peaks, int repeats);

// Sums over steps that have something in common.
struct Totals {
  std::string name;
  std::int64_t steps = 0;
  Cost cost = {};
  Traffic traffic = {};
  double least_seconds = 0;
  double measured_seconds = 0;

  void add(const ExplainedStep& step);
  double roofline_percent() const { return measured_seconds > 0 ? 100 * least_seconds / measured_seconds : 0; }
  // The measured time, or what the peaks would allow where nothing was measured.
  double seconds() const { return measured_seconds > 0 ? measured_seconds : least_seconds; }
};

Totals totals_of(const Explanation& explanation);
// The longest first.
std::vector<Totals> totals_by_family(const Explanation& explanation);
std::vector<Totals> totals_by_operation(const Explanation& explanation);  // and variant: "linear.matmul vnni"

// Layers that are alike, folded: each row stands for the same step of all of them.
struct LayerGroup {
  std::string name;  // "blk.0-29", "blk.0-2,5", or empty for steps outside of layers
  std::int64_t layers = 1;
  std::vector<Totals> rows;              // named without the layer
  std::vector<std::size_t> first_steps;  // of each row, the first step it stands for
};

std::vector<LayerGroup> folded(const Explanation& explanation);

}  // namespace ingot
