#include "engine/explanation_json.h"

#include <nlohmann/json.hpp>

namespace ingot {
namespace {

using nlohmann::json;

std::string_view name_of(Roof roof) {
  switch (roof) {
    case Roof::arithmetic: return "arithmetic";
    case Roof::memory: return "memory";
    case Roof::cache: return "cache";
  }
  return "unknown";
}

json measured(bool is_measured, double value) { return is_measured ? json(value) : json(nullptr); }

json json_of(const ExplainedStep& step, bool is_measured) {
  return {{"name", step.name},
          {"layer", step.layer < 0 ? json(nullptr) : json(step.layer)},
          {"operation", step.operation},
          {"family", step.family},
          {"shapes", step.shapes},
          {"place", name_of(step.place)},
          {"variant", step.variant},
          {"reason", step.reason},
          {"operations", step.cost.operations},
          {"bytes_read", step.cost.bytes_read},
          {"bytes_written", step.cost.bytes_written},
          {"weight_bytes", step.traffic.weights},
          {"cache_bytes", step.traffic.cache},
          {"intensity", step.intensity()},
          {"roof", name_of(step.roof)},
          {"least_us", 1e6 * step.least_seconds},
          {"measured_us", measured(is_measured, 1e6 * step.measured_seconds)},
          {"roofline_percent", measured(is_measured, step.roofline_percent())}};
}

json json_of(const Totals& totals, const Totals& all, bool is_measured) {
  return {{"name", totals.name},
          {"steps", totals.steps},
          {"operations", totals.cost.operations},
          {"bytes", totals.cost.bytes()},
          {"weight_bytes", totals.traffic.weights},
          {"cache_bytes", totals.traffic.cache},
          {"least_us", 1e6 * totals.least_seconds},
          {"measured_us", measured(is_measured, 1e6 * totals.measured_seconds)},
          {"share", all.seconds() > 0 ? totals.seconds() / all.seconds() : 0},
          {"roofline_percent", measured(is_measured, totals.roofline_percent())}};
}

json memory_of(const Explanation& explanation) {
  json buffers = json::array();
  for (const ExplainedBuffer& buffer : explanation.buffers) {
    buffers.push_back({{"name", buffer.name},
                       {"offset", buffer.offset},
                       {"bytes", buffer.bytes},
                       {"first", buffer.first},
                       {"last", buffer.last}});
  }
  return {{"weight_bytes", explanation.weight_bytes},   {"sequence_bytes", explanation.sequence_bytes},
          {"arena_bytes", explanation.arena_bytes},     {"unshared_bytes", explanation.unshared_bytes},
          {"scratch_bytes", explanation.scratch_bytes}, {"buffers", std::move(buffers)}};
}

}  // namespace

std::string explanation_json(const Explanation& explanation, int indent) {
  const Totals all = totals_of(explanation);
  const bool is_measured = explanation.is_measured;
  json document = {{"architecture", explanation.facts.architecture},
                   {"layers", explanation.facts.layers},
                   {"width", explanation.facts.width},
                   {"vocabulary", explanation.facts.vocabulary},
                   {"tokens", explanation.request.tokens},
                   {"depth", explanation.request.depth},
                   {"processor", explanation.processor},
                   {"host_layers", explanation.host_layers},
                   {"threads", explanation.is_on_device ? json(nullptr) : json(explanation.peaks.threads)},
                   {"read_bytes_per_second", explanation.peaks.read_bytes_per_second},
                   {"fma_flops", explanation.peaks.fma_flops},
                   {"pass_us", measured(is_measured, 1e6 * explanation.timing.pass_seconds.median)},
                   {"pass_spread", measured(is_measured, explanation.timing.pass_seconds.spread)},
                   {"accounted", measured(is_measured, explanation.timing.accounted)},
                   {"totals", json_of(all, all, is_measured)},
                   {"families", json::array()},
                   {"operations", json::array()},
                   {"rewrites", json::array()},
                   {"steps", json::array()},
                   {"memory", memory_of(explanation)}};
  for (const Totals& row : totals_by_family(explanation)) {
    document["families"].push_back(json_of(row, all, is_measured));
  }
  for (const Totals& row : totals_by_operation(explanation)) {
    document["operations"].push_back(json_of(row, all, is_measured));
  }
  for (const AppliedRewrite& rewrite : explanation.rewrites) {
    document["rewrites"].push_back({{"name", rewrite.name}, {"count", rewrite.count}});
  }
  for (const ExplainedStep& step : explanation.steps) document["steps"].push_back(json_of(step, is_measured));
  // Names come from a model file and may be any bytes.
  return document.dump(indent, ' ', false, json::error_handler_t::replace);
}

}  // namespace ingot
