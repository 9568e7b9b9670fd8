#include "model/template/experts.h"

#include "kernels/routing/router_top_k.h"
#include "model/template/keys.h"

namespace ingot {
namespace {

constexpr std::int64_t most_experts = 65536;

// Which experts each token goes through. A choice is a token's j-th expert; a slot is a row of the experts' work.
struct Routes {
  Operand weights;      // [tokens, used]
  Operand permutation;  // [slots]: which choice a slot holds
  Operand offsets;      // [experts + 1]: where each expert's slots begin
};

Routes routes_of(CircuitBuilder& builder, const Operand& x, const ExpertNumbers& n) {
  const Operand logits = linear(builder, "ffn_gate_inp", x, n.count);
  const Operand chosen = builder.activation("ffn_chosen", {builder.tokens(), n.used}, DType::i32);
  const Routes routes = {.weights = builder.activation("ffn_weights", {builder.tokens(), n.used}),
                         .permutation = builder.activation("ffn_slots", {builder.tokens() * n.used}, DType::i32),
                         .offsets = builder.activation("ffn_offsets", {n.count + 1}, DType::i32)};
  builder.call(
      "routing.router_top_k", "ffn_chosen", {{"logits", logits}, {"indices", chosen}, {"weights", routes.weights}},
      {{"score", static_cast<std::int64_t>(RouterScore::softmax)}, {"normalise", n.normalise}, {"scaling", n.scaling}});
  builder.call("routing.group_tokens", "ffn_slots",
               {{"indices", chosen}, {"permutation", routes.permutation}, {"offsets", routes.offsets}});
  return routes;
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
  return y;
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
  const Operand curved = curve(builder, "activation.silu", "ffn_act", gate);
  const Operand gated = multiplied(builder, "ffn_gated", curved, up);
  const Operand answers = grouped(builder, "ffn_down_exps", gated, routes, n.count, width);

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
  const Operand openness = linear(builder, "ffn_gate_inp_shexp", x, 1);
  const Operand share = curve(builder, "activation.sigmoid", "ffn_shexp_share", openness);
  return multiplied(builder, "ffn_shexp", answer, share);
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
  return numbers;
}

Operand feed_forward(CircuitBuilder& builder, const Operand& x, std::int64_t hidden, const ExpertNumbers& n) {
  if (!builder.has_weight("ffn_gate_inp.weight")) return gated_feed_forward(builder, x, hidden, "activation.silu");
  const Operand chosen = mixture_of_experts(builder, x, n);
  if (!builder.has_weight("ffn_up_shexp.weight")) return chosen;
  return residual_add(builder, "ffn_all_experts", chosen, shared_expert(builder, x, n));
}

}  // namespace ingot
