#include "engine/explanation.h"

#include <algorithm>
#include <map>

namespace ingot {
namespace {

double seconds(double amount, double rate) { return rate > 0 ? amount / rate : 0; }

// A pass goes through all weights before it comes back to one, so that they come from memory even where a step's own
// would fit a cache. Activations are where the step before left them.
Roofline roofline_of_step(const Cost& cost, Arithmetic arithmetic_kind, const Traffic& traffic, bool is_cold,
                          const Peaks& peaks, Bytes cache) {
  const double cold_bytes = is_cold ? traffic.bytes() : 0;
  const double arithmetic = seconds(cost.operations, peak_operations(arithmetic_kind, peaks));
  const Cost warm{.operations = 0, .bytes_read = cost.bytes_read - cold_bytes, .bytes_written = cost.bytes_written};
  const Roofline movement = roofline_of(warm, arithmetic_kind, peaks, cache);
  const double cold = seconds(cold_bytes, peaks.read_bytes_per_second);
  if (arithmetic >= cold + movement.least_seconds) return {arithmetic, Roof::arithmetic};
  return {cold + movement.least_seconds, cold >= movement.least_seconds ? Roof::memory : movement.roof};
}

// Where a step runs, and what that is compared with.
struct StepProcessor {
  const KernelTable& table;
  Processor processor;
  const Peaks& peaks;
  Bytes cache;
  bool is_cold;
};

std::string names_of(FeatureSet features) {
  std::string names;
  for (int index = 0; index < feature_count; ++index) {
    const auto feature = static_cast<Feature>(index);
    if (features.contains(feature)) names += (names.empty() ? "" : " ") + std::string(name_of(feature));
  }
  return names;
}

// The choice rule, told for one step: what stood before the chosen row, and why it did not run.
std::string reason_of(const Operation& operation, const Invocation& invocation, int chosen,
                      const StepProcessor& runs_on) {
  const KernelTable& table = runs_on.table;
  const Processor& processor = runs_on.processor;
  std::string reason;
  bool has_others = false;  // of other architectures, which would be most of the list
  const std::span<const int> available = table.available(operation.name);
  for (int index = 0; index < chosen; ++index) {
    const VariantInformation& variant = operation.variants[static_cast<std::size_t>(index)];
    const Availability state = availability(variant, processor);
    if (state == Availability::elsewhere) continue;
    if (state == Availability::not_built) {
      has_others = true;
      continue;
    }
    std::string why = "does not take these arguments";
    if (table.neighbours() == Neighbours::never_show && invocation.accepts(index)) why = "shows a row's neighbours";
    if (state == Availability::lacks_features) why = "needs " + names_of(variant.needs.without(processor.features));
    const bool is_offered = std::find(available.begin(), available.end(), index) != available.end();
    if (state == Availability::available && !is_offered && invocation.accepts(index)) return "forced";
    reason += (reason.empty() ? "" : "; ") + std::string(variant.name) + " " + why;
  }
  if (reason.empty()) return has_others ? "the best there is in this build" : "the best there is";
  return "best that runs: " + reason;
}

bool lies_in_arena(Storage storage) {
  return storage == Storage::input || storage == Storage::activation || storage == Storage::output;
}

std::vector<ExplainedBuffer> buffers_of(const Plan& plan) {
  const Circuit& circuit = plan.circuit();
  struct Place {
    const std::byte* data = nullptr;
    ExplainedBuffer buffer;
    bool is_on_host = false;
  };
  std::map<int, Place> places;  // by tensor
  for (std::size_t step = 0; step < circuit.steps.size(); ++step) {
    for (const BoundOperand& bound : circuit.steps[step].operands) {
      if (!bound.operand.is_present()) continue;
      const CircuitTensor& tensor = circuit.tensors[static_cast<std::size_t>(bound.operand.tensor)];
      if (!lies_in_arena(tensor.storage)) continue;
      Place& place = places[bound.operand.tensor];
      if (place.data == nullptr) {
        const std::int64_t bytes =
            element_count(tensor.shape) / block_elements(tensor.dtype) * block_bytes(tensor.dtype);
        place.data = plan.invocation(step).tensor(bound.field).data() - bound.operand.byte_offset;
        place.buffer = {tensor.name, 0, bytes, tensor.storage == Storage::input ? 0 : step, step};
        place.is_on_host = tensor.is_on_host;
      }
      const bool stays = tensor.storage != Storage::activation;
      place.buffer.last = stays ? circuit.steps.size() - 1 : step;
    }
  }
  std::vector<ExplainedBuffer> buffers;
  // Some buffer always lies at the arena's beginning. One that the host has beside the device's is shown behind it.
  const std::byte* arenas[2] = {};
  for (const auto& [tensor, place] : places) {
    const std::byte*& arena = arenas[place.is_on_host ? 1 : 0];
    arena = arena == nullptr ? place.data : std::min(arena, place.data);
  }
  for (auto& [tensor, place] : places) {
    place.buffer.offset = place.data - arenas[place.is_on_host ? 1 : 0] + (place.is_on_host ? plan.arena_bytes() : 0);
    buffers.push_back(std::move(place.buffer));
  }
  return buffers;
}

template <class KeyOf>
std::vector<Totals> totals_by(const Explanation& explanation, KeyOf key_of) {
  std::map<std::string, Totals> sums;
  for (const ExplainedStep& step : explanation.steps) {
    Totals& sum = sums[key_of(step)];
    sum.name = key_of(step);
    sum.add(step);
  }
  std::vector<Totals> sorted;
  for (auto& [name, sum] : sums) sorted.push_back(std::move(sum));
  std::sort(sorted.begin(), sorted.end(),
            [](const Totals& left, const Totals& right) { return left.seconds() > right.seconds(); });
  return sorted;
}

std::string name_without_layer(const ExplainedStep& step) {
  const std::string prefix = layer_prefix(step.layer);
  return step.name.starts_with(prefix) ? step.name.substr(prefix.size()) : step.name;
}

// "0-2,5"
std::string ranges_text(std::span<const int> layers) {
  std::string text;
  for (std::size_t begin = 0; begin < layers.size();) {
    std::size_t end = begin + 1;
    while (end < layers.size() && layers[end] == layers[end - 1] + 1) ++end;
    text += (text.empty() ? "" : ",") + std::to_string(layers[begin]);
    if (end - begin > 1) text += "-" + std::to_string(layers[end - 1]);
    begin = end;
  }
  return text;
}

}  // namespace

Result<Explanation> explain(Session& session, const PassRequest& request, const Machine& machine,
                            const PassPeaks& peaks, int repeats) {
  Explanation explanation;
  explanation.facts = session.model().facts();
  const DeviceSide* const side = session.device_side();
  explanation.processor = side == nullptr ? machine.cpu_model : side->device().information().name;
  explanation.is_on_device = side != nullptr;
  explanation.host_layers = session.host_layers();
  explanation.peaks = peaks.rates;
  explanation.request = request;
  explanation.is_measured = repeats > 0;
  if (repeats > 0) explanation.timing = TRY(measure_pass(session, request, repeats));
  const Plan& plan = *TRY(session.plan_for(request.shape(explanation.facts)));
  const AssumedInputs inputs(plan, request.shape(explanation.facts), request.depth);
  explanation.rewrites = plan.circuit().rewrites;
  explanation.buffers = buffers_of(plan);
  explanation.arena_bytes = plan.arena_bytes() + plan.host_arena_bytes();
  explanation.unshared_bytes = plan.unshared_bytes();
  explanation.scratch_bytes = static_cast<std::int64_t>(plan.scratch_bytes() + plan.host_scratch_bytes());
  explanation.sequence_bytes = static_cast<std::int64_t>(session.sequences().bytes());
  explanation.weight_bytes = session.model().weights().bytes();
  const auto is_cold = [&](Bytes cache) {
    return static_cast<double>(explanation.weight_bytes) > static_cast<double>(cache.count()) / 2;
  };
  const Bytes host_cache = machine.cache_bytes(2);
  const StepProcessor on_host{session.table(), Processor(machine.features),
                              side == nullptr ? peaks.rates : peaks.of_host, host_cache, is_cold(host_cache)};
  const Bytes device_cache = side == nullptr ? Bytes() : Bytes(side->device().information().level2_bytes);
  const StepProcessor on_device{session.pass_table(), side == nullptr ? Processor(machine.features) : side->processor(),
                                peaks.rates, device_cache, is_cold(device_cache)};

  for (std::size_t index = 0; index < plan.circuit().steps.size(); ++index) {
    const Step& step = plan.circuit().steps[index];
    const Invocation& invocation = plan.invocation(index);
    ExplainedStep explained;
    explained.name = step.name;
    explained.layer = step.layer;
    explained.operation = step.operation->name;
    explained.family = step.operation->family();
    explained.shapes = shapes_text(*step.operation, invocation);
    explained.place = plan.place(index);
    explained.variant = plan.variant_name(index);
    explained.cost = inputs.cost(index);
    explained.traffic = traffic_of(inputs, index);
    if (explained.place == StepPlace::crossing) {
      explained.reason = "from the host's memory to the device's";
      explained.least_seconds = seconds(explained.cost.bytes_written, peaks.upload_bytes_per_second);
    } else {
      const StepProcessor& runs_on = explained.place == StepPlace::host ? on_host : on_device;
      explained.reason =
          reason_of(*step.operation, invocation, step.operation->variant_index(explained.variant), runs_on);
      const Roofline roofline = roofline_of_step(explained.cost, arithmetic_of(*step.operation, invocation),
                                                 explained.traffic, runs_on.is_cold, runs_on.peaks, runs_on.cache);
      explained.least_seconds = roofline.least_seconds;
      explained.roof = roofline.roof;
    }
    if (explanation.is_measured) explained.measured_seconds = explanation.timing.step_seconds[index];
    explanation.steps.push_back(std::move(explained));
  }
  return explanation;
}

void Totals::add(const ExplainedStep& step) {
  ++steps;
  cost.operations += step.cost.operations;
  cost.bytes_read += step.cost.bytes_read;
  cost.bytes_written += step.cost.bytes_written;
  traffic.weights += step.traffic.weights;
  traffic.cache += step.traffic.cache;
  least_seconds += step.least_seconds;
  measured_seconds += step.measured_seconds;
}

Totals totals_of(const Explanation& explanation) {
  Totals sum;
  sum.name = "all";
  for (const ExplainedStep& step : explanation.steps) sum.add(step);
  return sum;
}

std::vector<Totals> totals_by_family(const Explanation& explanation) {
  return totals_by(explanation, [](const ExplainedStep& step) { return step.family; });
}

std::vector<Totals> totals_by_operation(const Explanation& explanation) {
  return totals_by(explanation, [](const ExplainedStep& step) { return step.operation + " " + step.variant; });
}

std::vector<LayerGroup> folded(const Explanation& explanation) {
  std::vector<LayerGroup> groups;
  std::vector<std::vector<int>> members;
  std::map<std::string, std::size_t> known;  // by what a layer consists of
  const auto& steps = explanation.steps;
  for (std::size_t begin = 0; begin < steps.size();) {
    std::size_t end = begin;
    std::string signature;
    for (; end < steps.size() && steps[end].layer == steps[begin].layer; ++end) {
      signature += name_without_layer(steps[end]) + "|" + steps[end].operation + "|" + steps[end].variant + "|" +
                   steps[end].shapes + "\n";
    }
    const auto [found, is_new] = known.try_emplace(signature, groups.size());
    if (is_new) {
      groups.emplace_back();
      members.emplace_back();
      for (std::size_t index = begin; index < end; ++index) {
        groups.back().rows.push_back({.name = name_without_layer(steps[index])});
        groups.back().first_steps.push_back(index);
      }
    }
    LayerGroup& group = groups[found->second];
    for (std::size_t index = begin; index < end; ++index) group.rows[index - begin].add(steps[index]);
    if (steps[begin].layer >= 0) members[found->second].push_back(steps[begin].layer);
    begin = end;
  }
  for (std::size_t index = 0; index < groups.size(); ++index) {
    if (members[index].empty()) continue;
    groups[index].name = "blk." + ranges_text(members[index]);
    groups[index].layers = static_cast<std::int64_t>(members[index].size());
  }
  return groups;
}

}  // namespace ingot
