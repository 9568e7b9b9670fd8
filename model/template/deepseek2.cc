// DeepSeek V2 and V3: attention over a latent vector that all heads share, and experts of which groups are chosen
// first.
//
//   q = q(n), or q_b(rms_norm(q_a(n)));  c, r = kv_a(n);  c = rms_norm(c);  of each head q: what is turned and the rest
//   k_h = [k_h c, rope(r)],  v_h = v_h c,  h += o(attention([q rest, rope(q turned)], k, v)),    n = rms_norm(h)
//   h += experts(n) + down(silu(gate(n)) up(n)), or down(silu(gate(n)) up(n)) in the first layers,  n = rms_norm(h)
//
// A head's k_h moves to the other side of the product: (q rest) (k_h c) = (k_h^T q rest) c. So there is one head of
// keys, [c, rope(r)], and one of values, c, of which each head's v_h makes its own behind the sum: what is kept of a
// token is c and r.
#include <array>
#include <cmath>

#include "model/template/decoder_pieces.h"
#include "model/template/experts.h"
#include "model/template/keys.h"

namespace ingot {
namespace {

constexpr std::string_view name = "deepseek2";

struct LatentNumbers {
  std::int64_t query_rank = 0;   // 0: queries are projected at once
  std::int64_t rank = 0;         // of keys and values together
  std::int64_t turned = 0;       // dimensions of a head
  std::int64_t unturned = 0;     // the others of a query and key
  std::int64_t value_width = 0;  // of a head
  double score_scale = 1;

  std::int64_t query_width() const { return unturned + turned; }
  std::int64_t kept_width() const { return rank + turned; }
};

class DeepSeek2Template : public Template {
 public:
  DeepSeek2Template(const DecoderNumbers& numbers, const LatentNumbers& latent, const ExpertNumbers& experts)
      : numbers_(numbers), latent_(latent), experts_(experts), facts_(facts_of(numbers, name)) {}

  const ModelFacts& facts() const override { return facts_; }

  void emit(CircuitBuilder& builder) const override {
    const DecoderNumbers& n = numbers_;
    const PassOperands inputs(builder);
    const Operand h =
        plain_layers(builder, inputs, n,
                     {.mixed = [&](const Operand& x, int) { return attention(builder, inputs, x); },
                      .fed = [&](const Operand& x) { return feed_forward(builder, x, n.hidden, experts_); }});
    language_head(builder, inputs, h, n);
  }

 private:
  Operand attention(CircuitBuilder& builder, const PassOperands& inputs, const Operand& x) const {
    const LatentNumbers& l = latent_;
    const std::int64_t tokens = builder.tokens();
    const Operand q = queries(builder, inputs, x);
    const Operand kept = keys(builder, inputs, x);
    const Operand values = builder.sliced(kept, 2, 0, l.rank);
    const Attention attention = {.heads = numbers_.heads, .value_dimensions = l.rank, .scale = l.score_scale};
    const Operand mixed =
        builder.reshaped(attention_over_runs(builder, q, kept, values, attention), {tokens, numbers_.heads, l.rank});
    const Operand own = by_heads(builder, "attn_v_b", mixed, l.value_width);
    const Operand rows = builder.activation("attn_values", {tokens, numbers_.heads, l.value_width});
    copy(builder, "attn_values", own, rows);
    return linear(builder, "attn_output", builder.reshaped(rows, {tokens, numbers_.heads * l.value_width}),
                  numbers_.width);
  }

  // [tokens, heads, rank + turned]: the rest through each head's k_b, and behind it what is turned.
  Operand queries(CircuitBuilder& builder, const PassOperands& inputs, const Operand& x) const {
    const LatentNumbers& l = latent_;
    const std::int64_t tokens = builder.tokens();
    const std::int64_t heads = numbers_.heads;
    Operand all;
    if (l.query_rank == 0) {
      all = linear(builder, "attn_q", x, heads * l.query_width());
    } else {
      const Operand low = linear(builder, "attn_q_a", x, l.query_rank);
      const Operand normed = rms_norm(builder, "attn_q_a_norm", low, "attn_q_a_norm", numbers_.epsilon);
      all = linear(builder, "attn_q_b", normed, heads * l.query_width());
    }
    const Operand of_heads = builder.reshaped(all, {tokens, heads, l.query_width()});
    const Operand absorbed = by_heads(builder, "attn_k_b", builder.sliced(of_heads, 2, 0, l.unturned), l.rank);
    const Operand turned = rotated(builder, "rope_q", builder.sliced(of_heads, 2, l.unturned, l.query_width()),
                                   inputs.positions, numbers_.rotation);
    const Operand q = builder.activation("attn_queries", {tokens, heads, l.kept_width()});
    copy(builder, "attn_queries_low", absorbed, builder.sliced(q, 2, 0, l.rank));
    copy(builder, "attn_queries_turned", turned, builder.sliced(q, 2, l.rank, l.kept_width()));
    return q;
  }

  // [tokens, 1, rank + turned].
  Operand keys(CircuitBuilder& builder, const PassOperands& inputs, const Operand& x) const {
    const LatentNumbers& l = latent_;
    const std::int64_t tokens = builder.tokens();
    const Operand both = linear(builder, "attn_kv_a_mqa", x, l.kept_width());
    const Operand low =
        rms_norm(builder, "attn_kv_a_norm", builder.sliced(both, 1, 0, l.rank), "attn_kv_a_norm", numbers_.epsilon);
    const Operand head = builder.reshaped(builder.sliced(both, 1, l.rank, l.kept_width()), {tokens, 1, l.turned});
    const Operand turned = rotated(builder, "rope_k", head, inputs.positions, numbers_.rotation);
    const Operand k = builder.activation("attn_keys", {tokens, 1, l.kept_width()});
    copy(builder, "attn_keys_low", builder.reshaped(low, {tokens, 1, l.rank}), builder.sliced(k, 2, 0, l.rank));
    copy(builder, "attn_keys_turned", turned, builder.sliced(k, 2, l.rank, l.kept_width()));
    return k;
  }

  static void copy(CircuitBuilder& builder, std::string_view makes, const Operand& x, const Operand& y) {
    builder.call("layout.copy", makes, {{"x", x}, {"y", y}});
  }

  // Each head of x [tokens, heads, inputs] by its own matrix of "<weights>.weight" [heads, outputs, inputs]. The result
  // is [tokens, heads, outputs], with the tokens of a head one behind the other in memory.
  static Operand by_heads(CircuitBuilder& builder, const std::string& weights, const Operand& x, std::int64_t outputs) {
    const std::int64_t tokens = x.shape[0];
    const std::int64_t heads = x.shape[1];
    const std::int64_t inputs = x.shape[2];
    const Operand rows = builder.activation(weights + "_rows", {heads, tokens, inputs});
    copy(builder, weights + "_rows", builder.transposed(x, 0, 1), rows);
    const Operand y = builder.activation(weights, {heads * tokens, outputs});
    builder.call("linear.matmul_grouped", weights,
                 {{"x", builder.reshaped(rows, {heads * tokens, inputs})},
                  {"weights", builder.weight(weights + ".weight", {heads, outputs, inputs})},
                  {"y", y}});
    return builder.transposed(builder.reshaped(y, {heads, tokens, outputs}), 0, 1);
  }

  DecoderNumbers numbers_;
  LatentNumbers latent_;
  ExpertNumbers experts_;
  ModelFacts facts_;
};

// What scaled rotations multiply scores by: 1 + 0.1 m ln(factor).
double yarn_magnitude(double factor, double m) { return factor <= 1 ? 1 : 1 + 0.1 * m * std::log(factor); }

Result<LatentNumbers> read_latent_numbers(const Keys& keys, DecoderNumbers& numbers) {
  LatentNumbers latent;
  latent.query_rank = TRY(keys.size_or("attention.q_lora_rank", 0, most_width));
  latent.rank = TRY(keys.size("attention.kv_lora_rank", most_width));
  latent.turned = numbers.rotation.dimensions;
  latent.value_width = TRY(keys.size("attention.value_length_mla", most_width));
  const std::int64_t query = TRY(keys.size("attention.key_length_mla", most_width));
  latent.unturned = query - latent.turned;
  if (latent.unturned < 1 || latent.turned < 2) {
    return Error::of(ErrorCode::invalid_argument, keys.key("attention.key_length_mla"),
                     ": expected more than the dimensions that turn (", latent.turned, "), found ", query);
  }
  latent.score_scale = 1 / std::sqrt(static_cast<double>(query));
  // A tenth of mscale_all_dim. Rotations do not scale then: mscale and mscale_all_dim are the same in all models.
  const double multiplier = TRY(keys.number_or("rope.scaling.yarn_log_multiplier", 0));
  if (numbers.rotation.scaling == RopeScaling::yarn && multiplier != 0) {
    const double magnitude = yarn_magnitude(numbers.rotation.factor, 10 * multiplier);
    latent.score_scale *= magnitude * magnitude;
    if (!keys.has("rope.scaling.attn_factor")) numbers.rotation.attention_factor = 1;
  }
  return latent;
}

Result<std::unique_ptr<Template>> create(const ModelSource& source) {
  const Keys keys(source.metadata, name);
  DecoderNumbers numbers = TRY(read_decoder_numbers(source, name, PairStyle::interleaved));
  const LatentNumbers latent = TRY(read_latent_numbers(keys, numbers));
  ExpertNumbers experts = TRY(read_expert_numbers(source, name, numbers.hidden));
  experts.normalise = TRY(keys.boolean_or("expert_weights_norm", false));
  if (experts.count > 0) {
    const std::int64_t shared = TRY(keys.size_or("expert_shared_count", 0, most_width));
    experts.shared_hidden = TRY(checked_multiply(shared, experts.hidden));
    if (experts.shared_hidden > most_width) {
      return Error::of(ErrorCode::invalid_argument, keys.key("expert_shared_count"), ": expected a width of at most ",
                       most_width, ", found ", experts.shared_hidden);
    }
  }
  return std::unique_ptr<Template>(std::make_unique<DeepSeek2Template>(numbers, latent, experts));
}

constexpr std::array number_rules = {
    NumberRule{"q_lora_rank", "attention.q_lora_rank"},
    NumberRule{"kv_lora_rank", "attention.kv_lora_rank"},
    NumberRule{"v_head_dim", "attention.value_length_mla"},
    NumberRule{"qk_rope_head_dim", "rope.dimension_count"},
    NumberRule{"first_k_dense_replace", "leading_dense_block_count"},
    NumberRule{"n_routed_experts", "expert_count"},
    NumberRule{"n_shared_experts", "expert_shared_count"},
    NumberRule{"routed_scaling_factor", "expert_weights_scale"},
};

constexpr std::array own_name_rules = {
    NameRule{"layers.{}.self_attn.q_a_proj.weight", "blk.{}.attn_q_a.weight"},
    NameRule{"layers.{}.self_attn.q_a_layernorm.weight", "blk.{}.attn_q_a_norm.weight"},
    NameRule{"layers.{}.self_attn.q_b_proj.weight", "blk.{}.attn_q_b.weight"},
    NameRule{"layers.{}.self_attn.kv_a_proj_with_mqa.weight", "blk.{}.attn_kv_a_mqa.weight"},
    NameRule{"layers.{}.self_attn.kv_a_layernorm.weight", "blk.{}.attn_kv_a_norm.weight"},
    NameRule{"layers.{}.self_attn.kv_b_proj.weight", "", leave_out},
    NameRule{"layers.{}.mlp.gate.e_score_correction_bias", "blk.{}.exp_probs_b.bias"},
    NameRule{"layers.{}.mlp.shared_experts.gate_proj.weight", "blk.{}.ffn_gate_shexp.weight"},
    NameRule{"layers.{}.mlp.shared_experts.up_proj.weight", "blk.{}.ffn_up_shexp.weight"},
    NameRule{"layers.{}.mlp.shared_experts.down_proj.weight", "blk.{}.ffn_down_shexp.weight"},
};

CheckpointNames names() { return decoder_names(own_name_rules); }

// The scaling's mscale and mscale_all_dim: rotations have the quotient of both magnitudes, scores the second, squared.
Result<void> translate_magnitudes(const ModelFile& file, Metadata& metadata) {
  const Keys keys(metadata, name);
  const std::string_view parent =
      file.metadata().has("rope_parameters.rope_type") ? "rope_parameters." : "rope_scaling.";
  const auto number = [&](std::string_view key, double absent) {
    return file.metadata().number_or(std::string(parent).append(key), absent);
  };
  const double of_rotation = TRY(number("mscale", 0));
  const double of_scores = TRY(number("mscale_all_dim", 0));
  if (of_scores == 0) return {};
  metadata.set_number(keys.key("rope.scaling.yarn_log_multiplier"), 0.1 * of_scores);
  if (of_rotation == of_scores || keys.has("rope.scaling.attn_factor")) return {};
  const double factor = TRY(number("factor", 1));
  const double plain = yarn_magnitude(factor, 1);
  metadata.set_number(
      keys.key("rope.scaling.attn_factor"),
      of_rotation == 0 ? plain : yarn_magnitude(factor, of_rotation) / yarn_magnitude(factor, of_scores));
  return {};
}

// A head's rows for its keys, then those for its values: k_b stands transposed, so that queries go through it.
Result<void> add_heads(const ModelFile& file, std::int64_t layers, std::int64_t heads, std::int64_t unturned,
                       Weights& weights) {
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    const std::string from = "model.layers." + std::to_string(layer) + ".self_attn.kv_b_proj.weight";
    const StoredTensor* both = file.find(from);
    if (both == nullptr) return Error::of(ErrorCode::not_found, "expected a tensor ", from, ", found none");
    const ConstAnyView& view = both->view;
    if (view.rank() != 2 || view.size(0) % heads != 0 || view.size(0) / heads <= unturned) {
      return Error::of(ErrorCode::corrupt, from, ": expected rows of keys (", unturned, ") and values for each of ",
                       heads, " heads, found ", view.shape());
    }
    const std::int64_t of_head = view.size(0) / heads;
    const std::int64_t row = view.byte_stride(0);
    const std::int64_t element = view.byte_stride(1);
    const std::string to = layer_prefix(static_cast<int>(layer));
    const ConstAnyView keys(view.data(), view.dtype(), {heads, view.size(1), unturned}, {of_head * row, element, row});
    const ConstAnyView values(view.data() + unturned * row, view.dtype(), {heads, of_head - unturned, view.size(1)},
                              {of_head * row, row, element});
    TRY(add_copied(to + "attn_k_b.weight", keys, weights));
    TRY(add_copied(to + "attn_v_b.weight", values, weights));
  }
  return {};
}

// How experts are chosen, which the two generations say in different words.
Result<void> translate_routing(const ModelFile& file, bool is_third, Metadata& metadata) {
  const Keys keys(metadata, name);
  const Metadata& config = file.metadata();
  constexpr std::int64_t softmax = 1;
  constexpr std::int64_t sigmoid = 2;
  TRY(require_known(file, "scoring_func", {is_third ? "sigmoid" : "softmax"}));
  metadata.set_integer(keys.key("expert_gating_func"), is_third ? sigmoid : softmax);
  metadata.set_boolean(keys.key("expert_weights_norm"), is_third && TRY(config.boolean_or("norm_topk_prob", true)));
  if (!is_third) TRY(require_flag(file, "norm_topk_prob", false));
  std::string_view method = is_third ? "noaux_tc" : "greedy";
  if (is_third) {
    TRY(require_known(file, "topk_method", {method}));
  } else {
    TRY(require_known(file, "topk_method", {"greedy", "group_limited_greedy"}));
    method = TRY(config.text_or("topk_method", method));
  }
  if (method == "greedy" || !config.has("n_group")) return {};
  metadata.set_integer(keys.key("expert_group_count"), TRY(config.integer("n_group")));
  metadata.set_integer(keys.key("expert_group_used_count"), TRY(config.integer("topk_group")));
  return {};
}

Result<void> translate_checkpoint(const ModelFile& file, ModelSource& source) {
  Metadata& metadata = source.metadata;
  const Metadata& config = file.metadata();
  const Keys keys(metadata, name);
  const bool is_third = TRY(config.text("model_type")) == "deepseek_v3";
  TRY(require_known(file, "hidden_act", {"silu"}));
  TRY(require_flag(file, "attention_bias", false));
  TRY(require_flag(file, "mlp_bias", false));
  TRY(require_flag(file, "rope_interleave", true));
  if (TRY(config.integer_or("moe_layer_freq", 1)) != 1) {
    return Error::of(ErrorCode::unsupported, "moe_layer_freq: expected 1, found ",
                     TRY(config.integer("moe_layer_freq")));
  }
  TRY(translate_numbers(file, name, number_rules, metadata));
  TRY(translate_decoder_numbers(file, name, metadata, {"mscale", "mscale_all_dim"}));
  metadata.set_text(rope_style_key, "interleaved");
  set_usual_number(metadata, name, "attention.layer_norm_rms_epsilon", 1e-6);
  TRY(translate_magnitudes(file, metadata));
  TRY(translate_routing(file, is_third, metadata));

  const std::int64_t rank = TRY(keys.size("attention.kv_lora_rank", most_width));
  const std::int64_t turned = TRY(keys.size("rope.dimension_count", most_width));
  const std::int64_t unturned = TRY(config.integer("qk_nope_head_dim"));
  if (unturned < 1 || unturned > most_width) {
    return Error::of(ErrorCode::invalid_argument, "qk_nope_head_dim: expected 1 to ", most_width, ", found ", unturned);
  }
  metadata.set_integer(keys.key("attention.head_count_kv"), 1);
  metadata.set_integer(keys.key("attention.key_length"), rank + turned);
  metadata.set_integer(keys.key("attention.value_length"), rank);
  metadata.set_integer(keys.key("attention.key_length_mla"), unturned + turned);
  TRY(translate_names(file, names(), source.weights));
  return add_heads(file, TRY(keys.size("block_count", most_layers)), TRY(keys.size("attention.head_count", most_width)),
                   unturned, source.weights);
}

// Layers behind the last guess further tokens.
Result<void> translate(const ModelFile& file, ModelSource& source) {
  const Metadata& config = file.metadata();
  const std::int64_t layers = TRY(config.integer("num_hidden_layers"));
  const std::int64_t guessing = TRY(config.integer_or("num_nextn_predict_layers", 0));
  if (guessing < 0 || guessing > 1 || layers < 1 || layers > most_layers) {
    return Error::of(ErrorCode::unsupported, "num_nextn_predict_layers: expected 0 or 1 behind 1 to ", most_layers,
                     " layers, found ", guessing, " behind ", layers);
  }
  if (guessing == 0) return translate_checkpoint(file, source);
  const std::string behind = "model.layers." + std::to_string(layers) + ".";
  const std::string_view others[] = {behind};
  const ModelFile part = file.part(config, others);
  return translate_checkpoint(part, source);
}

constexpr std::array<std::string_view, 2> model_types = {"deepseek_v2", "deepseek_v3"};

}  // namespace

extern const ModelArchitecture deepseek2_architecture = {
    name, model_types, create, translate, PairStyle::interleaved, names, PairStyle::interleaved};

}  // namespace ingot
