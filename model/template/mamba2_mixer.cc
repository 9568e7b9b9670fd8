#include "model/template/mamba2_mixer.h"

#include <cmath>

namespace ingot {
namespace {

// Bounds of the step size. GGUF has no keys for them; all published models leave it free.
constexpr std::string_view least_step_key = "ingot.mamba2.least_step";
constexpr std::string_view most_step_key = "ingot.mamba2.most_step";

Operand delta_of(CircuitBuilder& builder, const Operand& steps, const Mamba2Numbers& n) {
  const Operand biased = builder.activation("ssm_dt", steps.shape);
  builder.call("elementwise.bias", "ssm_dt",
               {{"x", steps}, {"bias", builder.weight("ssm_dt.bias", {n.space.rank})}, {"y", biased}});
  const Operand positive = curve(builder, "activation.softplus", "ssm_delta", biased);
  if (n.least_step <= 0 && std::isinf(n.most_step)) return positive;
  const Operand bounded = builder.activation("ssm_delta_bounded", steps.shape);
  builder.call("elementwise.clamp", "ssm_delta_bounded", {{"x", positive}, {"y", bounded}},
               {{"low", n.least_step}, {"high", n.most_step}});
  return bounded;
}

// x holds the channels, and behind them the projections into and out of the memory.
Operand recurrence(CircuitBuilder& builder, const Operand& x, const Operand& steps, const StateSpaceNumbers& s) {
  const std::int64_t tokens = builder.tokens();
  const std::int64_t projections = s.head_groups * s.memory;
  const auto columns = [&](std::int64_t begin, std::int64_t parts, std::int64_t size) {
    return builder.reshaped(builder.sliced(x, 1, begin, begin + parts * size), {tokens, parts, size});
  };
  const Operand channels = columns(0, s.rank, s.inner / s.rank);
  const Operand into = columns(s.inner, s.head_groups, s.memory);
  const Operand out_of = columns(s.inner + projections, s.head_groups, s.memory);
  const Operand transition = builder.reshaped(builder.weight("ssm_a", {s.rank, 1}), {s.rank});
  const Operand skip = builder.reshaped(builder.weight("ssm_d", {s.rank, 1}), {s.rank});
  const Operand y = builder.activation("ssm_scan", channels.shape);
  for (int run_group = 0; run_group < builder.run_groups(); ++run_group) {
    const StateOperands state = builder.state("ssm_state", run_group, {s.rank, s.inner / s.rank, s.memory});
    builder.call("state.mamba2", "ssm_scan",
                 {{"x", builder.of_run_group(channels, run_group)},
                  {"delta", builder.of_run_group(steps, run_group)},
                  {"transition", transition},
                  {"input_projection", builder.of_run_group(into, run_group)},
                  {"output_projection", builder.of_run_group(out_of, run_group)},
                  {"skip", skip},
                  {"initial_state", state.initial},
                  {"y", builder.of_run_group(y, run_group)},
                  {"final_state", state.final}});
  }
  return builder.reshaped(y, {tokens, s.inner});
}

Operand norm(CircuitBuilder& builder, const Operand& x, const Mamba2Numbers& n) {
  if (!n.has_norm) return x;
  const std::int64_t inner = n.space.inner;
  if (n.norm_groups == 1) return rms_norm(builder, "ssm_norm", x, "ssm_norm", n.epsilon);
  const Operand parts = builder.reshaped(x, {builder.tokens(), n.norm_groups, inner / n.norm_groups});
  const Operand unit = unit_rms(builder, "ssm_rms", parts, n.epsilon);
  const Operand y =
      multiplied(builder, "ssm_norm", unit, builder.weight("ssm_norm.weight", {n.norm_groups, inner / n.norm_groups}));
  return builder.reshaped(y, {builder.tokens(), inner});
}

}  // namespace

Operand mamba2_mixer(CircuitBuilder& builder, const Operand& normed, const Mamba2Numbers& n) {
  const StateSpaceNumbers& s = n.space;
  const std::int64_t mixed = s.inner + 2 * s.head_groups * s.memory;
  const Operand all = linear(builder, "ssm_in", normed, s.inner + mixed + s.rank);
  const Operand z = builder.sliced(all, 1, 0, s.inner);
  const Operand x = causal_convolution(builder, "ssm_conv", builder.sliced(all, 1, s.inner, s.inner + mixed), s.taps);
  const Operand steps = builder.sliced(all, 1, s.inner + mixed, s.inner + mixed + s.rank);

  const Operand y = recurrence(builder, x, delta_of(builder, steps, n), s);
  const Operand gated = multiplied(builder, "ssm_gated", y, curve(builder, "activation.silu", "ssm_gate", z));
  return linear(builder, "ssm_out", norm(builder, gated, n), n.width);
}

Result<Mamba2Numbers> read_mamba2_numbers(const ModelSource& source, std::string_view prefix, std::int64_t width,
                                          double epsilon) {
  Mamba2Numbers numbers;
  numbers.space = TRY(read_state_space_numbers(source.metadata, prefix));
  numbers.width = width;
  numbers.epsilon = epsilon;
  const StateSpaceNumbers& s = numbers.space;
  if (s.inner % s.rank != 0 || s.rank % s.head_groups != 0) {
    return Error::of(ErrorCode::invalid_argument, prefix,
                     ".ssm: expected heads that divide the inner size, and groups that divide the heads, found ",
                     s.inner, ", ", s.rank, ", ", s.head_groups);
  }
  // The norm's groups are the rows of its weights; a vector is one.
  const ConstAnyView* norm = source.weights.find("blk.0.ssm_norm.weight");
  if (norm != nullptr && norm->rank() == 2) numbers.norm_groups = norm->size(0);
  if (numbers.norm_groups < 1 || s.inner % numbers.norm_groups != 0) {
    return Error::of(ErrorCode::invalid_argument, "blk.0.ssm_norm.weight: expected rows that divide ", s.inner,
                     ", found ", numbers.norm_groups);
  }
  numbers.least_step = TRY(source.metadata.number_or(least_step_key, numbers.least_step));
  numbers.most_step = TRY(source.metadata.number_or(most_step_key, numbers.most_step));
  return numbers;
}

Result<void> add_column(std::string_view name, const ConstAnyView& view, Weights& weights) {
  return add_mapped(name, view, {view.count(), 1}, [](float a) { return a; }, weights);
}

// A pair of numbers, of which the second mostly is the text "Infinity": then it is no bound.
Result<void> translate_step_limit(const ModelFile& file, Metadata& metadata) {
  const Metadata& config = file.metadata();
  const MetadataValue* pair = config.find("time_step_limit");
  if (pair != nullptr && pair->is_list) {
    const ScalarList limits = TRY(config.number_list("time_step_limit"));
    if (limits.size() != 2) {
      return Error::of(ErrorCode::corrupt, "time_step_limit: expected two numbers, found ", limits.size());
    }
    metadata.set_number(least_step_key, limits.number(0));
    metadata.set_number(most_step_key, limits.number(1));
  } else {
    metadata.set_number(least_step_key, TRY(config.number_or("time_step_limit.0", 0)));
  }
  return {};
}

}  // namespace ingot
