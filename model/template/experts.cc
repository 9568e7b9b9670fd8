#include "model/template/experts.h"

#include <algorithm>
#include <limits>

#include "model/template/keys.h"

namespace ingot {
namespace {

constexpr std::int64_t most_experts = 65536;

// Which experts each token goes through. A choice is a token's j-th expert; a slot is a row of the experts' work.
struct Routes {
  Operand chosen;       // [tokens, used]: the experts
  Operand weights;      // [tokens, used]
  Operand permutation;  // [slots]: which choice a slot holds
  Operand offsets;      // [experts + 1]: where each expert's slots begin
};

Routes routes_of(CircuitBuilder& builder, const Operand& x, const ExpertNumbers& n) {
  const Operand logits = linear(builder, "ffn_gate_inp", x, n.count);
  const Routes routes = {.chosen = builder.activation("ffn_chosen", {builder.tokens(), n.used}, DType::i32),
                         .weights = builder.activation("ffn_weights", {builder.tokens(), n.used}),
                         .permutation = builder.activation("ffn_slots", {builder.tokens() * n.used}, DType::i32),
                         .offsets = builder.activation("ffn_offsets", {n.count + 1}, DType::i32)};
  builder.call("routing.router_top_k", "ffn_chosen",
               {{"logits", logits},
                {"selection_bias", builder.optional_weight("exp_probs_b.bias", {n.count})},
                {"indices", routes.chosen},
                {"weights", routes.weights}},
               {{"score", static_cast<std::int64_t>(n.score)},
                {"normalise", n.normalise},
                {"scaling", n.scaling},
                {"groups", n.groups},
                {"groups_used", n.groups_used},
                {"group_score", static_cast<std::int64_t>(n.group_score)}});
  builder.call("routing.group_tokens", "ffn_slots",
               {{"indices", routes.chosen}, {"permutation", routes.permutation}, {"offsets", routes.offsets}});
  return routes;
}

// Rows of a table in another order, or repeated.
Operand rows_of(CircuitBuilder& builder, const std::string& makes, const Operand& table, const Operand& indices,
                std::int64_t width) {
  const Operand y = builder.activation(makes, {indices.shape[0], width});
  builder.call("layout.gather_rows", makes, {{"table", table}, {"indices", indices}, {"y", y}});
  return y;
}

// Each slot's row and its own expert's bias: choices' biases in the order of slots.
Operand biased(CircuitBuilder& builder, const std::string& name, const Operand& x, const Routes& routes,
               std::int64_t experts) {
  if (!builder.has_weight(name + ".bias")) return x;
  const std::int64_t width = x.shape.last();
  const Operand table = builder.weight(name + ".bias", {experts, width});
  const Operand choices = builder.reshaped(routes.chosen, {x.shape[0]});
  const Operand of_choices = rows_of(builder, name + "_bias_chosen", table, choices, width);
  const Operand of_slots = rows_of(builder, name + "_bias", of_choices, routes.permutation, width);
  return residual_add(builder, name + "_biased", of_slots, x);
}

// Each slot's row through its own expert's matrix.
Operand grouped(CircuitBuilder& builder, std::string_view name, const Operand& x, const Routes& routes,
                std::int64_t experts, std::int64_t outputs) {
  const Operand y = builder.activation(name, {x.shape[0], outputs});
  builder.call("linear.matmul_grouped", name,
               {{"x", x},
                {"weights", builder.weight(std::string(name) + ".weight", {experts, outputs, x.shape.last()})},
                {"offsets", routes.offsets},
                {"y", y}});
  return biased(builder, std::string(name), y, routes, experts);
}

Operand clamped(CircuitBuilder& builder, std::string_view makes, const Operand& x, double low, double high) {
  const Operand y = builder.activation(makes, x.shape);
  builder.call("elementwise.clamp", makes, {{"x", x}, {"y", y}}, {{"low", low}, {"high", high}});
  return y;
}

Operand gated(CircuitBuilder& builder, const Operand& gate, const Operand& up, const ExpertNumbers& n) {
  if (n.gate == ExpertGate::silu) {
    return multiplied(builder, "ffn_gated", curve(builder, "activation.silu", "ffn_act", gate), up);
  }
  const Operand bounded = clamped(builder, "ffn_gate_clamped", gate, -std::numeric_limits<double>::infinity(), n.limit);
  const Operand curved = curve(builder, "activation.gelu_quick", "ffn_act", bounded);
  const Operand product =
      multiplied(builder, "ffn_gated_up", curved, clamped(builder, "ffn_up_clamped", up, -n.limit, n.limit));
  return residual_add(builder, "ffn_gated", product, curved);  // curved (up + 1)
}

Operand mixture_of_experts(CircuitBuilder& builder, const Operand& x, const ExpertNumbers& n) {
  const Routes routes = routes_of(builder, x, n);
  const std::int64_t slots = builder.tokens() * n.used;
  const std::int64_t width = x.shape.last();
  const Operand rows = builder.activation("ffn_rows", {slots, width});
  builder.call("routing.gather", "ffn_rows", {{"x", x}, {"permutation", routes.permutation}, {"y", rows}});

  Operand gate;
  Operand up;
  if (builder.has_weight("ffn_gate_up_exps.weight")) {
    const Operand both = grouped(builder, "ffn_gate_up_exps", rows, routes, n.count, 2 * n.hidden);
    gate = builder.sliced(both, 1, 0, n.hidden);
    up = builder.sliced(both, 1, n.hidden, 2 * n.hidden);
  } else {
    gate = grouped(builder, "ffn_gate_exps", rows, routes, n.count, n.hidden);
    up = grouped(builder, "ffn_up_exps", rows, routes, n.count, n.hidden);
  }
  const Operand answers = grouped(builder, "ffn_down_exps", gated(builder, gate, up, n), routes, n.count, width);

  const Operand y = builder.activation("ffn_experts", x.shape);
  builder.call("routing.combine", "ffn_experts",
               {{"x", answers}, {"permutation", routes.permutation}, {"weights", routes.weights}, {"y", y}});
  return y;
}

Operand shared_expert(CircuitBuilder& builder, const Operand& x, const ExpertNumbers& n) {
  const Operand gate = linear(builder, "ffn_gate_shexp", x, n.shared_hidden);
  const Operand up = linear(builder, "ffn_up_shexp", x, n.shared_hidden);
  const Operand curved = curve(builder, "activation.silu", "ffn_shexp_act", gate);
  const Operand gated = multiplied(builder, "ffn_shexp_gated", curved, up);
  const Operand answer = linear(builder, "ffn_down_shexp", gated, x.shape.last());
  if (!builder.has_weight("ffn_gate_inp_shexp.weight")) return answer;
  const Operand openness = linear(builder, "ffn_gate_inp_shexp", x, 1);
  const Operand share = curve(builder, "activation.sigmoid", "ffn_shexp_share", openness);
  return multiplied(builder, "ffn_shexp", answer, share);
}

// As GGUF numbers them.
Result<RouterScore> read_score(const Keys& keys) {
  constexpr std::int64_t softmax = 1;
  constexpr std::int64_t sigmoid = 2;
  const std::int64_t kind = TRY(keys.size_or("expert_gating_func", 0, std::numeric_limits<std::int32_t>::max()));
  if (kind == 0 || kind == softmax) return RouterScore::softmax;
  if (kind == sigmoid) return RouterScore::sigmoid;
  return Error::of(ErrorCode::unsupported, keys.key("expert_gating_func"), ": expected ", softmax, " (softmax) or ",
                   sigmoid, " (sigmoid), found ", kind);
}

// By the sum of the two best where scores are sigmoids, as models that choose so do.
Result<void> read_groups(const Keys& keys, ExpertNumbers& numbers) {
  const std::int64_t groups = std::max<std::int64_t>(TRY(keys.size_or("expert_group_count", 1, numbers.count)), 1);
  if (groups == 1) return {};
  numbers.groups = groups;
  numbers.groups_used = TRY(keys.size("expert_group_used_count", groups));
  numbers.group_score = numbers.score == RouterScore::sigmoid ? GroupScore::best_two : GroupScore::best;
  return {};
}

}  // namespace

Result<ExpertNumbers> read_expert_numbers(const ModelSource& source, std::string_view prefix, std::int64_t hidden) {
  const Keys keys(source.metadata, prefix);
  ExpertNumbers numbers;
  numbers.count = TRY(keys.size_or("expert_count", 0, most_experts));
  if (numbers.count == 0) return numbers;
  numbers.used = TRY(keys.size("expert_used_count", numbers.count));
  numbers.hidden = TRY(keys.size_or("expert_feed_forward_length", hidden, most_width));
  numbers.shared_hidden = TRY(keys.size_or("expert_shared_feed_forward_length", 0, most_width));
  numbers.normalise = TRY(keys.boolean_or("expert_weights_norm", true));
  const double scaling = TRY(keys.number_or("expert_weights_scale", 0));
  numbers.scaling = scaling == 0 ? 1 : scaling;  // some files say 0 where they mean that there is none
  numbers.score = TRY(read_score(keys));
  TRY(read_groups(keys, numbers));
  return numbers;
}

Operand feed_forward(CircuitBuilder& builder, const Operand& x, std::int64_t hidden, const ExpertNumbers& n) {
  if (!builder.has_weight("ffn_gate_inp.weight")) return gated_feed_forward(builder, x, hidden, "activation.silu");
  const Operand chosen = mixture_of_experts(builder, x, n);
  if (!builder.has_weight("ffn_up_shexp.weight")) return chosen;
  return residual_add(builder, "ffn_all_experts", chosen, shared_expert(builder, x, n));
}

}  // namespace ingot
