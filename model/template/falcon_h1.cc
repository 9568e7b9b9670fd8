// Falcon H1: attention and Mamba 2 side by side in every layer, from one norm.
//
//   h += o(attention(rope(q(n)), rope(k(n)), v(n))) + mixer(n),  n = rms_norm(h), mixer as in mamba2_mixer.h
//   h += down(silu(gate(n)) up(n)),                              n = rms_norm(h)
//
// Checkpoints have multipliers of many products beside the weights; GGUF files have them in the weights.
#include <algorithm>
#include <array>
#include <cmath>

#include "model/template/decoder_pieces.h"
#include "model/template/keys.h"
#include "model/template/mamba2_mixer.h"

namespace ingot {
namespace {

constexpr std::string_view name = "falcon-h1";

class FalconH1Template : public Template {
 public:
  FalconH1Template(const DecoderNumbers& numbers, const Mamba2Numbers& mixer)
      : numbers_(numbers), mixer_(mixer), facts_(facts_of(numbers, name)) {
    facts_.is_recurrent = true;
  }

  const ModelFacts& facts() const override { return facts_; }

  void emit(CircuitBuilder& builder) const override {
    const DecoderNumbers& n = numbers_;
    const PassOperands inputs(builder);
    Operand h = embedding(builder, "embedding", inputs.tokens, "token_embd.weight", n.vocabulary, n.width);
    for (int layer = 0; layer < n.layers; ++layer) {
      builder.begin_layer(layer);
      const Operand entering = rms_norm(builder, "attn_norm", h, "attn_norm", n.epsilon);
      const HeadOperands heads = project_heads(builder, entering, n);
      const Operand attended = attention_of_heads(builder, inputs, heads, n, n.rotation, attention_of(n));
      const Operand mixed = mamba2_mixer(builder, entering, mixer_);
      h = residual_add(builder, "attn_residual", residual_add(builder, "mixed", attended, mixed), h);
      h = residual_add(builder, "ffn_residual",
                       gated_feed_forward(builder, feed_forward_norm(builder, h), n.hidden, "activation.silu"), h);
    }
    builder.end_layers();
    language_head(builder, inputs, h, n);
  }

 private:
  // Its weight has no ".weight" behind its name in files of this architecture.
  Operand feed_forward_norm(CircuitBuilder& builder, const Operand& h) const {
    if (!builder.has_weight("ffn_norm")) return rms_norm(builder, "ffn_norm", h, "ffn_norm", numbers_.epsilon);
    const Operand y = builder.activation("ffn_normed", h.shape);
    builder.call("norm.rms_norm", "ffn_normed",
                 {{"x", h}, {"gamma", builder.weight("ffn_norm", {h.shape.last()})}, {"y", y}},
                 {{"epsilon", numbers_.epsilon}});
    return y;
  }

  DecoderNumbers numbers_;
  Mamba2Numbers mixer_;
  ModelFacts facts_;
};

Result<std::unique_ptr<Template>> create(const ModelSource& source) {
  const DecoderNumbers numbers = TRY(read_decoder_numbers(source, name, PairStyle::half_split));
  Mamba2Numbers mixer = TRY(read_mamba2_numbers(source, name, numbers.width, numbers.epsilon));
  mixer.has_norm = source.weights.has("blk.0.ssm_norm.weight");
  return std::unique_ptr<Template>(std::make_unique<FalconH1Template>(numbers, mixer));
}

// Of whom: what a checkpoint multiplies an outcome by.
class Multipliers {
 public:
  static Result<Multipliers> of(const ModelFile& file) {
    Multipliers all(file);
    all.feed_forward_ = TRY(number_list_of(file, "mlp_multipliers", 2));
    all.parts_ = TRY(number_list_of(file, "ssm_multipliers", 5));
    return all;
  }

  // Of a weight or bias, which is named without its layer: what all its rows are multiplied by.
  Result<double> of(std::string_view kind) const {
    if (kind == "attn_q.weight" || kind == "attn_v.weight") return one("attention_in_multiplier");
    if (kind == "attn_k.weight") return TRY(one("attention_in_multiplier")) * TRY(one("key_multiplier"));
    if (kind == "attn_k.bias") return one("key_multiplier");
    if (kind.starts_with("attn_output.")) return one("attention_out_multiplier");
    if (kind == "ssm_in.weight") return one("ssm_in_multiplier");
    if (kind.starts_with("ssm_out.")) return one("ssm_out_multiplier");
    if (kind.starts_with("ffn_gate.")) return feed_forward_.empty() ? 1 : feed_forward_.number(0);
    if (kind.starts_with("ffn_down.")) return feed_forward_.empty() ? 1 : feed_forward_.number(1);
    if (kind == "output.weight") return one("lm_head_multiplier");
    if (kind == "token_embd.weight") return one("embedding_multiplier");
    return 1.0;
  }

  // Of each row of ssm_in: z, x, B, C and the steps, one behind the other.
  Result<std::vector<double>> of_parts(const StateSpaceNumbers& s) const {
    const double all = TRY(of("ssm_in.weight"));
    const std::int64_t projections = s.head_groups * s.memory;
    std::vector<double> factors;
    std::size_t part = 0;
    for (const std::int64_t rows : {s.inner, s.inner, projections, projections, s.rank}) {
      const double own = parts_.empty() ? 1 : parts_.number(part);
      factors.insert(factors.end(), static_cast<std::size_t>(rows), all * own);
      ++part;
    }
    return factors;
  }

 private:
  explicit Multipliers(const ModelFile& file) : file_(file) {}

  Result<double> one(std::string_view key) const {
    const double factor = TRY(file_.metadata().number_or(key, 1));
    if (std::isfinite(factor) && factor != 0) return factor;
    return Error::of(ErrorCode::invalid_argument, key, ": expected a finite number other than 0, found another");
  }

  const ModelFile& file_;
  ScalarList feed_forward_;
  ScalarList parts_;
};

// Multiplies the rows of a weight, each by its own factor; where all are 1 it stays as it is stored.
Result<void> multiply_rows(std::string_view weight, std::span<const double> factors, Weights& weights) {
  const ConstAnyView* stored = weights.find(weight);
  if (stored == nullptr || std::all_of(factors.begin(), factors.end(), [](double one) { return one == 1; })) return {};
  const ConstAnyView view = *stored;
  const auto rows = static_cast<std::int64_t>(factors.size());
  if (view.rank() < 1 || view.empty() || view.size(0) % rows != 0 || !is_floating_point(view.dtype())) {
    return Error::of(ErrorCode::corrupt, weight, ": expected ", rows, " rows of numbers, found ", view.dtype(), " ",
                     view.shape());
  }
  const AnyView copy = TRY(weights.add_owned(weight, DType::f32, view.shape()));
  auto* values = reinterpret_cast<float*>(copy.data());
  decode_all(view, values);
  const std::int64_t share = view.count() / rows;
  for (std::int64_t index = 0; index < view.count(); ++index) {
    values[index] = static_cast<float>(values[index] * factors[static_cast<std::size_t>(index / share)]);
  }
  return {};
}

Result<void> multiply(std::string_view weight, double factor, Weights& weights) {
  return multiply_rows(weight, std::span(&factor, 1), weights);
}

// Before as many factors are made as numbers of the file say.
Result<void> require_rows_of_parts(const StateSpaceNumbers& s, const Weights& weights) {
  constexpr std::string_view weight = "blk.0.ssm_in.weight";
  const std::int64_t rows = 2 * s.inner + 2 * s.head_groups * s.memory + s.rank;
  const ConstAnyView* stored = weights.find(weight);
  if (stored != nullptr && stored->rank() == 2 && stored->size(0) == rows && !stored->empty()) return {};
  return Error::of(ErrorCode::corrupt, weight, ": expected a matrix of ", rows, " rows, found ",
                   stored == nullptr ? "none" : "another");
}

constexpr std::array<std::string_view, 12> multiplied_in_layers = {
    "attn_q.weight",  "attn_k.weight", "attn_k.bias",     "attn_v.weight", "attn_output.weight", "attn_output.bias",
    "ssm_out.weight", "ssm_out.bias",  "ffn_gate.weight", "ffn_gate.bias", "ffn_down.weight",    "ffn_down.bias"};

Result<void> multiply_layers(const Multipliers& multipliers, const StateSpaceNumbers& space, std::int64_t layers,
                             Weights& weights) {
  const std::vector<double> of_parts = TRY(multipliers.of_parts(space));
  for (std::int64_t number = 0; number < layers; ++number) {
    const std::string layer = layer_prefix(static_cast<int>(number));
    for (const std::string_view kind : multiplied_in_layers) {
      const double factor = TRY(multipliers.of(kind));
      TRY(multiply(layer + std::string(kind), factor, weights));
    }
    TRY(multiply_rows(layer + "ssm_in.weight", of_parts, weights));
  }
  return {};
}

// A table that is also the head has one multiplier for each, so that it becomes two.
Result<void> multiply_ends(const Multipliers& multipliers, Weights& weights) {
  const double of_head = TRY(multipliers.of("output.weight"));
  const double of_table = TRY(multipliers.of("token_embd.weight"));
  if (!weights.has("output.weight") && of_head != of_table) {
    if (const ConstAnyView* table = weights.find("token_embd.weight")) TRY(weights.add("output.weight", *table));
  }
  TRY(multiply("output.weight", of_head, weights));
  return multiply("token_embd.weight", of_table, weights);
}

Result<void> add_groups_of_norm(Weights& weights, std::int64_t layers, std::int64_t groups) {
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    const std::string weight = layer_prefix(static_cast<int>(layer)) + "ssm_norm.weight";
    const ConstAnyView* stored = weights.find(weight);
    if (stored == nullptr || groups < 2 || stored->count() % groups != 0) continue;
    const ConstAnyView view = *stored;
    TRY(add_mapped(weight, view, {groups, view.count() / groups}, [](float w) { return w; }, weights));
  }
  return {};
}

constexpr std::array number_rules = {
    NumberRule{"mamba_d_conv", "ssm.conv_kernel"},     NumberRule{"mamba_d_state", "ssm.state_size"},
    NumberRule{"mamba_n_heads", "ssm.time_step_rank"}, NumberRule{"mamba_n_groups", "ssm.group_count"},
    NumberRule{"mamba_d_ssm", "ssm.inner_size"},
};

constexpr std::array own_name_rules = {
    NameRule{"final_layernorm.weight", "output_norm.weight"},
    NameRule{"layers.{}.pre_ff_layernorm.weight", "blk.{}.ffn_norm"},
    NameRule{"layers.{}.feed_forward.gate_proj.weight", "blk.{}.ffn_gate.weight"},
    NameRule{"layers.{}.feed_forward.up_proj.weight", "blk.{}.ffn_up.weight"},
    NameRule{"layers.{}.feed_forward.down_proj.weight", "blk.{}.ffn_down.weight"},
    NameRule{"layers.{}.feed_forward.gate_proj.bias", "blk.{}.ffn_gate.bias"},
    NameRule{"layers.{}.feed_forward.up_proj.bias", "blk.{}.ffn_up.bias"},
    NameRule{"layers.{}.feed_forward.down_proj.bias", "blk.{}.ffn_down.bias"},
    NameRule{"layers.{}.mamba.in_proj.weight", "blk.{}.ssm_in.weight"},
    NameRule{"layers.{}.mamba.conv1d.weight", "blk.{}.ssm_conv1d.weight", add_convolution},
    NameRule{"layers.{}.mamba.conv1d.bias", "blk.{}.ssm_conv1d.bias"},
    NameRule{"layers.{}.mamba.dt_bias", "blk.{}.ssm_dt.bias"},
    NameRule{"layers.{}.mamba.A_log", "blk.{}.ssm_a", add_transition},
    NameRule{"layers.{}.mamba.D", "blk.{}.ssm_d", add_column},
    NameRule{"layers.{}.mamba.norm.weight", "blk.{}.ssm_norm.weight"},
    NameRule{"layers.{}.mamba.out_proj.weight", "blk.{}.ssm_out.weight"},
    NameRule{"layers.{}.mamba.out_proj.bias", "blk.{}.ssm_out.bias"},
};

CheckpointNames names() { return decoder_names(own_name_rules); }

// An adapter goes through the multipliers of what it stands beside.
Result<std::vector<double>> row_factors(const ModelFile& file, const Metadata& metadata, std::string_view weight) {
  const Multipliers multipliers = TRY(Multipliers::of(file));
  const std::string_view kind = weight.starts_with("blk.") ? weight.substr(weight.find('.', 4) + 1) : weight;
  if (kind != "ssm_in.weight") return std::vector{TRY(multipliers.of(kind))};
  return multipliers.of_parts(TRY(read_state_space_numbers(metadata, name)));
}

Result<void> translate(const ModelFile& file, ModelSource& source) {
  Metadata& metadata = source.metadata;
  const Metadata& config = file.metadata();
  const Keys keys(metadata, name);
  TRY(require_known(file, "hidden_act", {"silu"}));
  // GGUF has no biases of these, and the norm stands behind the gate.
  TRY(require_flag(file, "mamba_proj_bias", false));
  if (TRY(config.boolean_or("mamba_rms_norm", false))) {
    if (TRY(config.boolean_or("mamba_norm_before_gate", true))) {
      return Error::of(ErrorCode::unsupported, "mamba_norm_before_gate: expected false, found true");
    }
  }
  TRY(translate_step_limit(file, metadata));
  TRY(translate_numbers(file, name, number_rules, metadata));
  TRY(translate_decoder_numbers(file, name, metadata));
  if (!keys.has("ssm.inner_size")) {
    const std::int64_t width = TRY(keys.size("embedding_length", most_width));
    const std::int64_t share = TRY(config.integer_or("mamba_expand", 2));
    metadata.set_integer(keys.key("ssm.inner_size"), TRY(checked_multiply(width, share)));
  }
  TRY(translate_names(file, names(), source.weights));

  const StateSpaceNumbers space = TRY(read_state_space_numbers(source.metadata, name));
  const std::int64_t layers = TRY(keys.size("block_count", most_layers));
  TRY(add_groups_of_norm(source.weights, layers, space.head_groups));
  const Multipliers multipliers = TRY(Multipliers::of(file));
  TRY(require_rows_of_parts(space, source.weights));
  TRY(multiply_layers(multipliers, space, layers, source.weights));
  return multiply_ends(multipliers, source.weights);
}

constexpr std::array<std::string_view, 1> model_types = {"falcon_h1"};

}  // namespace

extern const ModelArchitecture falcon_h1_architecture = {.name = name,
                                                         .model_types = model_types,
                                                         .create = create,
                                                         .translate = translate,
                                                         .names = names,
                                                         .row_factors = row_factors};

}  // namespace ingot
