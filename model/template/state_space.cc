#include "model/template/state_space.h"

#include <array>
#include <cmath>

#include "model/template/keys.h"

namespace ingot {
namespace {

constexpr std::int64_t most_taps = 4096;

// A state has no end of its own; files say this where something must be said.
constexpr std::int64_t unlimited_context = std::int64_t{1} << 20;

constexpr std::array common_number_rules = {
    NumberRule{"num_hidden_layers", "block_count"},
    NumberRule{"hidden_size", "embedding_length"},
    NumberRule{"layer_norm_epsilon", "attention.layer_norm_rms_epsilon"},
    NumberRule{"conv_kernel", "ssm.conv_kernel"},
    NumberRule{"state_size", "ssm.state_size"},
};

constexpr std::array common_name_rules = {
    NameRule{"embeddings.weight", "token_embd.weight"},
    NameRule{"norm_f.weight", "output_norm.weight"},
    NameRule{"lm_head.weight", "output.weight"},
    NameRule{"layers.{}.norm.weight", "blk.{}.attn_norm.weight"},
    NameRule{"layers.{}.mixer.in_proj.weight", "blk.{}.ssm_in.weight"},
    NameRule{"layers.{}.mixer.in_proj.bias", "blk.{}.ssm_in.bias"},
    NameRule{"layers.{}.mixer.conv1d.weight", "blk.{}.ssm_conv1d.weight", add_convolution},
    NameRule{"layers.{}.mixer.conv1d.bias", "blk.{}.ssm_conv1d.bias"},
    NameRule{"layers.{}.mixer.A_log", "blk.{}.ssm_a", add_transition},
    NameRule{"layers.{}.mixer.out_proj.weight", "blk.{}.ssm_out.weight"},
    NameRule{"layers.{}.mixer.out_proj.bias", "blk.{}.ssm_out.bias"},
};

}  // namespace

Result<StateSpaceNumbers> read_state_space_numbers(const Metadata& metadata, std::string_view prefix) {
  const Keys keys(metadata, prefix);
  StateSpaceNumbers numbers;
  numbers.taps = TRY(keys.size("ssm.conv_kernel", most_taps));
  if (numbers.taps < 2) {
    return Error::of(ErrorCode::invalid_argument, keys.key("ssm.conv_kernel"), ": expected at least 2, found ",
                     numbers.taps);
  }
  numbers.inner = TRY(keys.size("ssm.inner_size", most_width));
  numbers.memory = TRY(keys.size("ssm.state_size", most_width));
  numbers.rank = TRY(keys.size("ssm.time_step_rank", most_width));
  if (keys.has("ssm.group_count")) numbers.head_groups = TRY(keys.size("ssm.group_count", most_width));
  // So that all groups' projections together are no wider than anything else may be.
  if (numbers.head_groups > most_width / numbers.memory) {
    return Error::of(ErrorCode::invalid_argument, keys.key("ssm.group_count"), ": expected at most ",
                     most_width / numbers.memory, " for a state of ", numbers.memory, ", found ", numbers.head_groups);
  }
  return numbers;
}

Operand causal_convolution(CircuitBuilder& builder, std::string_view makes, const Operand& x, std::int64_t taps) {
  return causal_convolution(builder, makes, x, {"ssm_conv1d", taps, ConvolutionActivation::silu});
}

Operand causal_convolution(CircuitBuilder& builder, std::string_view makes, const Operand& x,
                           const Convolution& convolution) {
  const std::int64_t channels = x.shape.last();
  const std::int64_t taps = convolution.taps;
  const std::string name(convolution.name);
  const Operand weights = builder.weight(name + ".weight", {channels, taps});
  const Operand bias = builder.optional_weight(name + ".bias", {channels});
  const Operand y = builder.activation(makes, x.shape);
  for (int run_group = 0; run_group < builder.run_groups(); ++run_group) {
    const StateOperands state = builder.state("conv_state", run_group, {channels, taps - 1});
    builder.call("state.causal_conv1d", makes,
                 {{"x", builder.transposed(builder.of_run_group(x, run_group), 1, 2)},
                  {"weights", weights},
                  {"bias", bias},
                  {"initial_state", state.initial},
                  {"y", builder.transposed(builder.of_run_group(y, run_group), 1, 2)},
                  {"final_state", state.final}},
                 {{"activation", static_cast<std::int64_t>(convolution.curve)}});
  }
  return y;
}

Operand unit_rms(CircuitBuilder& builder, const std::string& makes, const Operand& x, double epsilon) {
  const auto size = static_cast<double>(x.shape.last());
  const Operand unit = builder.activation(makes + "_unit", x.shape);
  builder.call("norm.l2_norm", makes + "_unit", {{"x", x}, {"y", unit}}, {{"epsilon", size * epsilon}});
  return scaled(builder, makes, unit, std::sqrt(size));
}

float decay_of(float logarithm) { return -std::exp(logarithm); }

Result<void> add_transition(std::string_view name, const ConstAnyView& view, Weights& weights) {
  const Shape shape = view.rank() == 1 ? Shape{view.size(0), 1} : view.shape();
  return add_mapped(name, view, shape, decay_of, weights);
}

CheckpointNames state_space_names(std::span<const NameRule> own) {
  static constexpr std::array<std::string_view, 1> prefixes = {"backbone."};
  return {prefixes, own, common_name_rules};
}

Result<void> translate_state_space(const ModelFile& file, std::string_view architecture,
                                   std::span<const NumberRule> number_rules, const CheckpointNames& names,
                                   ModelSource& source) {
  TRY(require_known(file, "hidden_act", {"silu"}));
  TRY(translate_numbers(file, architecture, number_rules, source.metadata));
  TRY(translate_numbers(file, architecture, common_number_rules, source.metadata));
  source.metadata.set_integer(Keys(source.metadata, architecture).key("context_length"), unlimited_context);
  return translate_names(file, names, source.weights);
}

}  // namespace ingot
