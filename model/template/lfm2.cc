// LFM2: most layers mix tokens by a short convolution between two gates, the others by attention.
//
//   b, c, x = in(n);  h += out(c convolution(b x)),                         n = rms_norm(h)
//   or                h += o(attention(rope(norm(q(n))), rope(norm(k(n))), v(n))), n = rms_norm(h)
//   h += down(silu(gate(n)) up(n)),                                         n = rms_norm(h)
#include <array>

#include "model/template/decoder_pieces.h"
#include "model/template/keys.h"
#include "model/template/state_space.h"

namespace ingot {
namespace {

constexpr std::string_view name = "lfm2";
constexpr std::int64_t most_taps = 4096;

class Lfm2Template : public Template {
 public:
  Lfm2Template(const DecoderNumbers& numbers, std::int64_t taps)
      : numbers_(numbers), taps_(taps), facts_(facts_of(numbers, name)) {
    facts_.is_recurrent = true;
  }

  const ModelFacts& facts() const override { return facts_; }

  void emit(CircuitBuilder& builder) const override {
    const DecoderNumbers& n = numbers_;
    const PassOperands inputs(builder);
    const Operand h = plain_layers(
        builder, inputs, n,
        {.mixed = [&](const Operand& x, int) { return mixed(builder, inputs, x); },
         .fed = [&](const Operand& x) { return gated_feed_forward(builder, x, n.hidden, "activation.silu"); }});
    // The last norm has this name in files of this architecture.
    const Operand last = wanted_rows(builder, "wanted_rows", h, inputs.wanted);
    scores(builder, rms_norm(builder, "output_norm", last, "token_embd_norm", n.epsilon), n.vocabulary, 0);
  }

 private:
  Operand mixed(CircuitBuilder& builder, const PassOperands& inputs, const Operand& x) const {
    if (!builder.has_weight("attn_q.weight")) return short_convolution(builder, x);
    const DecoderNumbers& n = numbers_;
    const HeadOperands heads = normed_heads(builder, project_heads(builder, x, n), n.epsilon);
    return attention_of_heads(builder, inputs, heads, n, n.rotation, attention_of(n));
  }

  Operand short_convolution(CircuitBuilder& builder, const Operand& x) const {
    const std::int64_t width = numbers_.width;
    const Operand all = linear(builder, "shortconv_in", x, "shortconv.in_proj", 3 * width);
    const Operand before = builder.sliced(all, 1, 0, width);
    const Operand behind = builder.sliced(all, 1, width, 2 * width);
    const Operand gated = multiplied(builder, "shortconv_gated", before, builder.sliced(all, 1, 2 * width, 3 * width));
    const Operand mixed =
        causal_convolution(builder, "shortconv", gated, {"shortconv.conv", taps_, ConvolutionActivation::none});
    return linear(builder, "shortconv_out", multiplied(builder, "shortconv_opened", behind, mixed),
                  "shortconv.out_proj", width);
  }

  DecoderNumbers numbers_;
  std::int64_t taps_;
  ModelFacts facts_;
};

Result<std::unique_ptr<Template>> create(const ModelSource& source) {
  const DecoderNumbers numbers = TRY(read_decoder_numbers(source, name, PairStyle::half_split));
  const Keys keys(source.metadata, name);
  const std::int64_t taps = TRY(keys.size("shortconv.l_cache", most_taps));
  if (taps < 2) {
    return Error::of(ErrorCode::invalid_argument, keys.key("shortconv.l_cache"), ": expected at least 2, found ", taps);
  }
  if (keys.has("attention.causal") && !TRY(keys.boolean_or("attention.causal", true))) {
    return Error::of(ErrorCode::unsupported, keys.key("attention.causal"), ": expected true, found false");
  }
  return std::unique_ptr<Template>(std::make_unique<Lfm2Template>(numbers, taps));
}

// Key heads of each layer: none where it convolves.
Result<void> translate_layers(const ModelFile& file, Metadata& metadata) {
  const Keys keys(metadata, name);
  const auto layers = static_cast<std::size_t>(TRY(keys.size("block_count", most_layers)));
  const std::int64_t key_heads = TRY(keys.size("attention.head_count_kv", most_width));
  std::vector<std::int64_t> of_layers(layers);
  const std::vector<bool> convolve = TRY(layers_of_kind(file, "conv"));
  if (!convolve.empty() && convolve.size() != layers) {
    return Error::of(ErrorCode::corrupt, "layer_types: expected one for each of ", layers, " layers, found ",
                     convolve.size());
  }
  for (std::size_t layer = 0; layer < convolve.size(); ++layer) of_layers[layer] = convolve[layer] ? 0 : key_heads;
  // Older ones number the layers that attend.
  const ScalarList attending = TRY(file.metadata().integer_list_or_empty("full_attn_idxs"));
  for (std::size_t index = 0; convolve.empty() && index < attending.size(); ++index) {
    const std::int64_t layer = attending.integer(index);
    if (layer < 0 || layer >= static_cast<std::int64_t>(layers)) {
      return Error::of(ErrorCode::corrupt, "full_attn_idxs: expected layers below ", layers, ", found ", layer);
    }
    of_layers[static_cast<std::size_t>(layer)] = key_heads;
  }
  if (convolve.empty() && attending.empty()) of_layers.assign(layers, key_heads);
  metadata.set_scalar_list<std::int64_t>(keys.key("attention.head_count_kv"), of_layers);
  return {};
}

constexpr std::array own_name_rules = {
    NameRule{"embedding_norm.weight", "token_embd_norm.weight"},
    NameRule{"layers.{}.operator_norm.weight", "blk.{}.attn_norm.weight"},
    NameRule{"layers.{}.ffn_norm.weight", "blk.{}.ffn_norm.weight"},
    NameRule{"layers.{}.self_attn.out_proj.weight", "blk.{}.attn_output.weight"},
    NameRule{"layers.{}.self_attn.q_layernorm.weight", "blk.{}.attn_q_norm.weight"},
    NameRule{"layers.{}.self_attn.k_layernorm.weight", "blk.{}.attn_k_norm.weight"},
    NameRule{"layers.{}.conv.in_proj.weight", "blk.{}.shortconv.in_proj.weight"},
    NameRule{"layers.{}.conv.conv.weight", "blk.{}.shortconv.conv.weight", add_convolution},
    NameRule{"layers.{}.conv.out_proj.weight", "blk.{}.shortconv.out_proj.weight"},
    NameRule{"layers.{}.feed_forward.w1.weight", "blk.{}.ffn_gate.weight"},
    NameRule{"layers.{}.feed_forward.w3.weight", "blk.{}.ffn_up.weight"},
    NameRule{"layers.{}.feed_forward.w2.weight", "blk.{}.ffn_down.weight"},
};

CheckpointNames names() { return decoder_names(own_name_rules); }

Result<void> translate(const ModelFile& file, ModelSource& source) {
  constexpr std::array number_rules = {
      NumberRule{"conv_L_cache", "shortconv.l_cache"},
      NumberRule{"norm_eps", "attention.layer_norm_rms_epsilon"},
  };
  Metadata& metadata = source.metadata;
  TRY(require_flag(file, "conv_bias", false));
  TRY(translate_numbers(file, name, number_rules, metadata));
  TRY(translate_decoder_numbers(file, name, metadata));
  set_usual_number(metadata, name, "rope.freq_base", 1e6);
  set_usual_number(metadata, name, "attention.layer_norm_rms_epsilon", 1e-5);
  TRY(translate_layers(file, metadata));
  TRY(translate_names(file, names(), source.weights));
  // The number in config.json is mostly another, from which this one follows by rounding.
  if (const ConstAnyView* gate = source.weights.find("blk.0.ffn_gate.weight"); gate != nullptr && gate->rank() == 2) {
    metadata.set_integer(Keys(metadata, name).key("feed_forward_length"), gate->size(0));
  }
  return {};
}

constexpr std::array<std::string_view, 1> model_types = {"lfm2"};

}  // namespace

extern const ModelArchitecture lfm2_architecture = {name, model_types, create, translate, PairStyle::half_split, names};

}  // namespace ingot
