#include "model/template/layers.h"

namespace ingot {
namespace {

Shape with_last(const Shape& shape, std::int64_t last) {
  Shape changed = shape;
  changed[shape.rank() - 1] = last;
  return changed;
}

}  // namespace

PassOperands::PassOperands(CircuitBuilder& builder)
    : tokens(builder.input(pass_inputs::tokens, DType::i32, {builder.tokens()})),
      positions(builder.input(pass_inputs::positions, DType::i32, {builder.tokens()})),
      wanted(builder.input(pass_inputs::wanted, DType::i32, {builder.pass().outputs})) {}

Operand embedding(CircuitBuilder& builder, std::string_view makes, const Operand& tokens, std::string_view table,
                  std::int64_t vocabulary, std::int64_t width) {
  const Operand rows = builder.activation(makes, {builder.tokens(), width});
  builder.call("layout.gather_rows", makes,
               {{"table", builder.weight(table, {vocabulary, width})}, {"indices", tokens}, {"y", rows}});
  return rows;
}

Operand linear(CircuitBuilder& builder, std::string_view makes, const Operand& x, std::string_view name,
               std::int64_t outputs) {
  const Operand y = builder.activation(makes, with_last(x.shape, outputs));
  const std::string prefix(name);
  builder.call("linear.matmul", makes,
               {{"x", x},
                {"weights", builder.weight(prefix + ".weight", {outputs, x.shape.last()})},
                {"bias", builder.optional_weight(prefix + ".bias", {outputs})},
                {"y", y}});
  return y;
}

Operand linear(CircuitBuilder& builder, std::string_view name, const Operand& x, std::int64_t outputs) {
  return linear(builder, name, x, name, outputs);
}

Operand rms_norm(CircuitBuilder& builder, std::string_view makes, const Operand& x, std::string_view name,
                 double epsilon) {
  const Operand y = builder.activation(makes, x.shape);
  builder.call("norm.rms_norm", makes,
               {{"x", x}, {"gamma", builder.weight(std::string(name) + ".weight", {x.shape.last()})}, {"y", y}},
               {{"epsilon", epsilon}});
  return y;
}

Operand layer_norm(CircuitBuilder& builder, std::string_view makes, const Operand& x, std::string_view name,
                   double epsilon) {
  const Operand y = builder.activation(makes, x.shape);
  const std::string prefix(name);
  builder.call("norm.layer_norm", makes,
               {{"x", x},
                {"gamma", builder.weight(prefix + ".weight", {x.shape.last()})},
                {"beta", builder.optional_weight(prefix + ".bias", {x.shape.last()})},
                {"y", y}},
               {{"epsilon", epsilon}});
  return y;
}

Operand residual_add(CircuitBuilder& builder, std::string_view makes, const Operand& x, const Operand& residual) {
  const Operand y = builder.activation(makes, x.shape);
  builder.call("elementwise.residual_add", makes, {{"x", x}, {"residual", residual}, {"y", y}});
  return y;
}

Operand scaled(CircuitBuilder& builder, std::string_view makes, const Operand& x, double factor) {
  const Operand y = builder.activation(makes, x.shape);
  builder.call("elementwise.scale", makes, {{"x", x}, {"y", y}}, {{"factor", factor}});
  return y;
}

Operand multiplied(CircuitBuilder& builder, std::string_view makes, const Operand& a, const Operand& b) {
  const Operand y = builder.activation(makes, a.shape);
  builder.call("elementwise.mul", makes, {{"a", a}, {"b", b}, {"y", y}});
  return y;
}

Operand curve(CircuitBuilder& builder, std::string_view operation, std::string_view makes, const Operand& x) {
  const Operand y = builder.activation(makes, x.shape);
  builder.call(operation, makes, {{"x", x}, {"y", y}});
  return y;
}

Operand rotated(CircuitBuilder& builder, std::string_view makes, const Operand& x, const Operand& positions,
                const Rotation& rotation) {
  const Operand y = builder.activation(makes, x.shape);
  Operand factors;
  if (!rotation.frequency_factors.empty()) {
    factors = builder.shared_weight(rotation.frequency_factors, {rotation.dimensions / 2});
  }
  builder.call("position.rope", makes, {{"x", x}, {"positions", positions}, {"frequency_factors", factors}, {"y", y}},
               {{"rotary_dimensions", rotation.dimensions},
                {"base", rotation.base},
                {"scaling", static_cast<std::int64_t>(rotation.scaling)},
                {"factor", rotation.factor},
                {"original_context", rotation.original_context},
                {"low_freq_factor", rotation.low_freq_factor},
                {"high_freq_factor", rotation.high_freq_factor},
                {"beta_fast", rotation.beta_fast},
                {"beta_slow", rotation.beta_slow},
                {"whole_ramp", rotation.whole_ramp},
                {"attention_factor", rotation.attention_factor},
                {"style", static_cast<std::int64_t>(rotation.style)}});
  return y;
}

Operand attention_over_runs(CircuitBuilder& builder, const Operand& q, const Operand& k, const Operand& v,
                            const Attention& attention, MaskKind mask) {
  const Operand mixed = builder.activation("attn", {builder.tokens(), attention.heads, attention.value_dimensions});
  const Operand sinks = attention.has_sinks ? builder.weight("attn_sinks.weight", {attention.heads}) : Operand{};
  for (int run_group = 0; run_group < builder.run_groups(); ++run_group) {
    const auto heads_first = [&](const Operand& all) {  // [sequences, heads, time, dimensions]
      return builder.transposed(builder.of_run_group(all, run_group), 1, 2);
    };
    builder.call("attention.sdpa", "attn",
                 {{"q", heads_first(q)},
                  {"k", heads_first(k)},
                  {"v", heads_first(v)},
                  {"sinks", sinks},
                  {"y", heads_first(mixed)}},
                 {{"scale", attention.scale},
                  {"mask_kind", static_cast<std::int64_t>(mask)},
                  {"window", attention.window},
                  {"softcap", attention.softcap}});
  }
  return builder.reshaped(mixed, {builder.tokens(), attention.heads * attention.value_dimensions});
}

Operand gated_feed_forward(CircuitBuilder& builder, const Operand& x, std::int64_t hidden,
                           std::string_view activation) {
  Operand gate;
  Operand up;
  if (builder.has_weight("ffn_gate.weight")) {
    gate = linear(builder, "ffn_gate", x, hidden);
    up = linear(builder, "ffn_up", x, hidden);
  } else {
    const Operand both = linear(builder, "ffn_up", x, 2 * hidden);
    gate = builder.sliced(both, 1, 0, hidden);
    up = builder.sliced(both, 1, hidden, 2 * hidden);
  }
  const Operand curved = curve(builder, activation, "ffn_act", gate);
  const Operand gated = multiplied(builder, "ffn_gated", curved, up);
  return linear(builder, "ffn_down", gated, x.shape.last());
}

Operand feed_forward(CircuitBuilder& builder, const Operand& x, std::int64_t hidden, std::string_view activation) {
  const Operand up = linear(builder, "ffn_up", x, hidden);
  const Operand curved = curve(builder, activation, "ffn_act", up);
  return linear(builder, "ffn_down", curved, x.shape.last());
}

void scores(CircuitBuilder& builder, const Operand& x, std::int64_t vocabulary, double softcap) {
  if (builder.yields_vectors()) {
    const Operand vectors = builder.output(pass_inputs::result, x.shape);
    builder.call("layout.copy", pass_inputs::result, {{"x", x}, {"y", vectors}});
    return;
  }
  const std::string_view table = builder.has_weight("output.weight") ? "output.weight" : "token_embd.weight";
  const Shape shape = {builder.pass().outputs, vocabulary};
  const Operand result = builder.output(pass_inputs::result, shape);
  const Operand plain = softcap == 0 ? result : builder.activation("scores", shape);
  builder.call("linear.matmul", "scores",
               {{"x", x}, {"weights", builder.weight(table, {vocabulary, x.shape.last()})}, {"y", plain}});
  if (softcap == 0) return;
  const Operand shrunk = scaled(builder, "scores_shrunk", plain, 1 / softcap);
  const Operand bounded = curve(builder, "activation.tanh", "scores_bounded", shrunk);
  builder.call("elementwise.scale", pass_inputs::result, {{"x", bounded}, {"y", result}}, {{"factor", softcap}});
}

Operand wanted_rows(CircuitBuilder& builder, std::string_view makes, const Operand& x, const Operand& wanted) {
  if (!builder.remembers()) return x;  // every token's output is
  const Operand rows = builder.activation(makes, {builder.pass().outputs, x.shape.last()});
  builder.call("layout.gather_rows", makes, {{"table", x}, {"indices", wanted}, {"y", rows}});
  return rows;
}

}  // namespace ingot
