// Qwen 3 Next: three layers of gated delta net, then one of attention whose output is gated too; experts in all of
// them, one of which every token goes through.
//
//   h += mixer(rms_norm(h));  h += experts(rms_norm(h))
//
//   delta net   q k v, z, b, a = projections(n);  q k v = silu(convolution(q k v));  q, k = l2_norm(q), l2_norm(k)
//               y = gated_delta_net(q, k, v, decay = A softplus(a + bias), beta = sigmoid(b))
//               mixer = out(rms_norm(y) silu(z))
//   attention   q, gate, k, v = projections(n);  mixer = o(attention(rope(norm(q)), rope(norm(k)), v) sigmoid(gate))
#include <array>
#include <cmath>

#include "model/template/decoder_pieces.h"
#include "model/template/experts.h"
#include "model/template/keys.h"
#include "model/template/state_space.h"

namespace ingot {
namespace {

// Of the length to which queries and keys of the delta net are normalised.
constexpr double length_epsilon = 1e-6;

// Heads of the delta net: a query and key head serves several value heads.
struct DeltaNumbers {
  std::int64_t taps = 0;
  std::int64_t key_heads = 0;
  std::int64_t heads = 0;           // of values
  std::int64_t key_dimensions = 0;  // of a head
  std::int64_t value_dimensions = 0;

  std::int64_t key_width() const { return key_heads * key_dimensions; }
  std::int64_t value_width() const { return heads * value_dimensions; }
  std::int64_t share() const { return heads / key_heads; }  // value heads of a key head
};

class Qwen3NextTemplate : public Template {
 public:
  Qwen3NextTemplate(const DecoderNumbers& numbers, const DeltaNumbers& delta, const ExpertNumbers& experts)
      : numbers_(numbers), delta_(delta), experts_(experts), facts_(facts_of(numbers, "qwen3next")) {
    facts_.is_recurrent = true;
  }

  const ModelFacts& facts() const override { return facts_; }

  void emit(CircuitBuilder& builder) const override {
    const DecoderNumbers& n = numbers_;
    const PassOperands inputs(builder);
    const Operand h =
        plain_layers(builder, inputs, n,
                     {.mixed = [&](const Operand& x, int) { return mixed(builder, inputs, x); },
                      .fed = [&](const Operand& x) { return feed_forward(builder, x, n.hidden, experts_); },
                      .second_norm = "post_attention_norm"});
    language_head(builder, inputs, h, n);
  }

 private:
  Operand mixed(CircuitBuilder& builder, const PassOperands& inputs, const Operand& x) const {
    return builder.has_weight("attn_q.weight") ? attention(builder, inputs, x) : delta_net(builder, x);
  }

  // Each head's query rows are followed by as many rows of its gate.
  Operand attention(CircuitBuilder& builder, const PassOperands& inputs, const Operand& x) const {
    const DecoderNumbers& n = numbers_;
    const std::int64_t tokens = builder.tokens();
    const std::int64_t size = n.key_dimensions;
    const Operand both =
        builder.reshaped(linear(builder, "attn_q", x, n.heads * 2 * size), {tokens, n.heads, 2 * size});
    const Operand k = linear(builder, "attn_k", x, n.key_heads * size);
    const Operand v = linear(builder, "attn_v", x, n.key_heads * size);
    const HeadOperands heads =
        normed_heads(builder,
                     {builder.sliced(both, 2, 0, size), builder.reshaped(k, {tokens, n.key_heads, size}),
                      builder.reshaped(v, {tokens, n.key_heads, size})},
                     n.epsilon);
    const Operand turned_q = rotated(builder, "rope_q", heads.q, inputs.positions, n.rotation);
    const Operand turned_k = rotated(builder, "rope_k", heads.k, inputs.positions, n.rotation);
    const Operand mixed = attention_over_runs(builder, turned_q, turned_k, heads.v, attention_of(n));
    const Operand gate = curve(builder, "activation.sigmoid", "attn_gate", builder.sliced(both, 2, size, 2 * size));
    const Operand gated = multiplied(builder, "attn_gated", mixed, builder.reshaped(gate, {tokens, n.heads * size}));
    return linear(builder, "attn_output", gated, n.width);
  }

  Operand delta_net(CircuitBuilder& builder, const Operand& x) const {
    const DeltaNumbers& d = delta_;
    const Shape heads = {builder.tokens(), d.heads, d.value_dimensions};
    const Projections projections = project(builder, x);
    const Operand qkv = causal_convolution(builder, "ssm_conv", projections.qkv, d.taps);
    const Operand y = recurrence(builder, qkv, x);
    const Operand normed = rms_norm(builder, "ssm_norm", y, "ssm_norm", numbers_.epsilon);
    const Operand gate = builder.reshaped(curve(builder, "activation.silu", "ssm_gate", projections.z), heads);
    const Operand gated = multiplied(builder, "ssm_gated", normed, gate);
    return linear(builder, "ssm_out", builder.reshaped(gated, {builder.tokens(), d.value_width()}), numbers_.width);
  }

  struct Projections {
    Operand qkv;  // [tokens, all queries, all keys, all values]
    Operand z;    // [tokens, ...]: as many as values, in their order
  };

  // By attn_qkv and attn_gate, or by one ssm_in whose rows are the q, k, v and z of a key head, then those of the next.
  Projections project(CircuitBuilder& builder, const Operand& x) const {
    const DeltaNumbers& d = delta_;
    const std::int64_t width = 2 * d.key_width() + d.value_width();
    if (builder.has_weight("attn_qkv.weight")) {
      return {linear(builder, "attn_qkv", x, width), linear(builder, "attn_gate", x, d.value_width())};
    }
    const std::int64_t tokens = builder.tokens();
    const std::int64_t values = d.share() * d.value_dimensions;
    const Operand all = linear(builder, "ssm_in", x, width + d.value_width());
    const Operand heads = builder.reshaped(all, {tokens, d.key_heads, 2 * (d.key_dimensions + values)});
    const Operand qkv = builder.activation("ssm_qkv", {tokens, width});
    std::int64_t from = 0;
    std::int64_t to = 0;
    for (const std::int64_t size : {d.key_dimensions, d.key_dimensions, values}) {
      const Operand part = builder.sliced(qkv, 1, to, to + d.key_heads * size);
      builder.call("layout.copy", "ssm_qkv",
                   {{"x", builder.sliced(heads, 2, from, from + size)},
                    {"y", builder.reshaped(part, {tokens, d.key_heads, size})}});
      from += size;
      to += d.key_heads * size;
    }
    return {qkv, builder.sliced(heads, 2, from, from + values)};
  }

  Operand recurrence(CircuitBuilder& builder, const Operand& qkv, const Operand& x) const {
    const DeltaNumbers& d = delta_;
    const std::int64_t tokens = builder.tokens();
    const auto unit = [&](std::string_view makes, std::int64_t begin) {
      const Operand columns = builder.sliced(qkv, 1, begin, begin + d.key_width());
      const Operand y = builder.activation(makes, {tokens, d.key_heads, d.key_dimensions});
      builder.call("norm.l2_norm", makes, {{"x", builder.reshaped(columns, y.shape)}, {"y", y}},
                   {{"epsilon", length_epsilon}});
      return y;
    };
    const Operand q = unit("ssm_q", 0);
    const Operand k = unit("ssm_k", d.key_width());
    const Operand v = builder.reshaped(builder.sliced(qkv, 1, 2 * d.key_width(), qkv.shape[1]),
                                       {tokens, d.heads, d.value_dimensions});
    const Gates gates = gates_of(builder, x);
    const Operand y = builder.activation("ssm_delta_net", v.shape);
    for (int run_group = 0; run_group < builder.run_groups(); ++run_group) {
      const StateOperands state =
          builder.state("ssm_state", run_group, {d.heads, d.key_dimensions, d.value_dimensions});
      builder.call("state.gated_delta_net", "ssm_delta_net",
                   {{"query", builder.of_run_group(q, run_group)},
                    {"key", builder.of_run_group(k, run_group)},
                    {"value", builder.of_run_group(v, run_group)},
                    {"decay", builder.of_run_group(gates.decay, run_group)},
                    {"beta", builder.of_run_group(gates.beta, run_group)},
                    {"initial_state", state.initial},
                    {"y", builder.of_run_group(y, run_group)},
                    {"final_state", state.final}},
                   {{"scale", 1 / std::sqrt(static_cast<double>(d.key_dimensions))}});
    }
    return y;
  }

  struct Gates {
    Operand decay, beta;  // [tokens, heads]
  };

  // ssm_ba's rows are the b and the a of a key head's value heads, then those of the next.
  Gates gates_of(CircuitBuilder& builder, const Operand& x) const {
    const DeltaNumbers& d = delta_;
    const Shape all = {builder.tokens(), d.heads};
    const Shape grouped = {d.key_heads, d.share()};
    const Operand both =
        builder.reshaped(linear(builder, "ssm_ba", x, 2 * d.heads), {builder.tokens(), d.key_heads, 2 * d.share()});
    const Operand beta = curve(builder, "activation.sigmoid", "ssm_beta", builder.sliced(both, 2, 0, d.share()));
    const Operand a = builder.sliced(both, 2, d.share(), 2 * d.share());
    const Operand biased = builder.activation("ssm_dt", a.shape);
    builder.call("elementwise.add", "ssm_dt",
                 {{"a", a}, {"b", builder.reshaped(builder.weight("ssm_dt.bias", {d.heads}), grouped)}, {"y", biased}});
    const Operand positive = curve(builder, "activation.softplus", "ssm_steps", biased);
    const Operand decay =
        multiplied(builder, "ssm_decay", positive, builder.reshaped(builder.weight("ssm_a", {d.heads}), grouped));
    return {builder.reshaped(decay, all), builder.reshaped(beta, all)};
  }

  DecoderNumbers numbers_;
  DeltaNumbers delta_;
  ExpertNumbers experts_;
  ModelFacts facts_;
};

Result<std::unique_ptr<Template>> create(const ModelSource& source) {
  DecoderNumbers numbers = TRY(read_decoder_numbers(source, "qwen3next", PairStyle::half_split));
  const StateSpaceNumbers space = TRY(read_state_space_numbers(source.metadata, "qwen3next"));
  if (space.rank % space.head_groups != 0 || space.inner % space.rank != 0) {
    return Error::of(ErrorCode::invalid_argument,
                     "qwen3next.ssm: expected value heads that divide the inner size, and key heads that divide the ",
                     "value heads, found ", space.inner, ", ", space.rank, ", ", space.head_groups);
  }
  const DeltaNumbers delta = {.taps = space.taps,
                              .key_heads = space.head_groups,
                              .heads = space.rank,
                              .key_dimensions = space.memory,
                              .value_dimensions = space.inner / space.rank};
  const ExpertNumbers experts = TRY(read_expert_numbers(source, "qwen3next", numbers.hidden));
  return std::unique_ptr<Template>(std::make_unique<Qwen3NextTemplate>(numbers, delta, experts));
}

Result<void> add_decay(std::string_view name, const ConstAnyView& view, Weights& weights) {
  return add_mapped(name, view, view.shape(), decay_of, weights);
}

// Most norms keep w where they mean 1 + w.
constexpr std::array own_name_rules = {
    NameRule{"norm.weight", "output_norm.weight", add_plus_one},
    NameRule{"layers.{}.input_layernorm.weight", "blk.{}.attn_norm.weight", add_plus_one},
    NameRule{"layers.{}.post_attention_layernorm.weight", "blk.{}.post_attention_norm.weight", add_plus_one},
    NameRule{"layers.{}.self_attn.q_norm.weight", "blk.{}.attn_q_norm.weight", add_plus_one},
    NameRule{"layers.{}.self_attn.k_norm.weight", "blk.{}.attn_k_norm.weight", add_plus_one},
    NameRule{"layers.{}.linear_attn.in_proj_qkvz.weight", "blk.{}.ssm_in.weight"},
    NameRule{"layers.{}.linear_attn.in_proj_ba.weight", "blk.{}.ssm_ba.weight"},
    NameRule{"layers.{}.linear_attn.conv1d.weight", "blk.{}.ssm_conv1d.weight", add_convolution},
    NameRule{"layers.{}.linear_attn.dt_bias", "blk.{}.ssm_dt.bias"},
    NameRule{"layers.{}.linear_attn.A_log", "blk.{}.ssm_a", add_decay},
    NameRule{"layers.{}.linear_attn.norm.weight", "blk.{}.ssm_norm.weight"},
    NameRule{"layers.{}.linear_attn.out_proj.weight", "blk.{}.ssm_out.weight"},
};

CheckpointNames names() { return decoder_names(own_name_rules); }

Result<void> translate(const ModelFile& file, ModelSource& source) {
  constexpr std::array number_rules = {
      NumberRule{"linear_conv_kernel_dim", "ssm.conv_kernel"},
      NumberRule{"linear_key_head_dim", "ssm.state_size"},
      NumberRule{"linear_num_key_heads", "ssm.group_count"},
      NumberRule{"linear_num_value_heads", "ssm.time_step_rank"},
      NumberRule{"full_attention_interval", "full_attention_interval"},
  };
  const Metadata& config = file.metadata();
  TRY(require_known(file, "hidden_act", {"silu"}));
  TRY(translate_numbers(file, "qwen3next", number_rules, source.metadata));
  TRY(translate_decoder_numbers(file, "qwen3next", source.metadata));
  const std::int64_t heads = TRY(config.integer("linear_num_value_heads"));
  const std::int64_t size = TRY(config.integer("linear_value_head_dim"));
  source.metadata.set_integer("qwen3next.ssm.inner_size", TRY(checked_multiply(heads, size)));
  return translate_names(file, names(), source.weights);
}

constexpr std::array<std::string_view, 1> model_types = {"qwen3_next"};

}  // namespace

extern const ModelArchitecture qwen3next_architecture = {"qwen3next", model_types,           create,
                                                         translate,   PairStyle::half_split, names};

}  // namespace ingot
