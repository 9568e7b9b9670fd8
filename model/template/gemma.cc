// Gemma 2 and Gemma 3 (text). Every sublayer is normed before and after, embeddings are scaled, and some layers see no
// further than a window:
//
//   h  = sqrt(width) embedding
//   h += post_norm(o(attention(rope(q(n)), rope(k(n)), v(n)))),  n = rms_norm(h)
//   h += post_norm(down(gelu(gate(n)) up(n))),                   n = rms_norm(h)
//
// Gemma 2 caps the scores of attention and of the vocabulary. Gemma 3 norms each head of q and k instead, and turns the
// layers with a window by frequencies of their own.
#include <array>
#include <cmath>

#include "model/template/decoder_pieces.h"
#include "model/template/keys.h"

namespace ingot {
namespace {

struct GemmaNumbers : DecoderNumbers {
  std::vector<bool> slides;  // by layer
  double scale = 1;          // of attention's scores
  bool norms_heads = false;
  Rotation window_rotation;  // of the layers that slide
};

class GemmaTemplate : public Template {
 public:
  GemmaTemplate(GemmaNumbers numbers, std::string_view name)
      : numbers_(std::move(numbers)), facts_(facts_of(numbers_, name)) {}

  const ModelFacts& facts() const override { return facts_; }

  void emit(CircuitBuilder& builder) const override {
    const GemmaNumbers& n = numbers_;
    const PassOperands inputs(builder);
    const Operand rows = embedding(builder, "embedding", inputs.tokens, "token_embd.weight", n.vocabulary, n.width);
    Operand h = scaled(builder, "embedding_scaled", rows, std::sqrt(static_cast<double>(n.width)));
    for (int layer = 0; layer < n.layers; ++layer) {
      builder.begin_layer(layer);
      const Operand mixed = attention(builder, inputs, h, layer);
      h = residual_add(builder, "attn_residual",
                       rms_norm(builder, "post_attention_norm", mixed, "post_attention_norm", n.epsilon), h);
      const Operand normed = rms_norm(builder, "ffn_norm", h, "ffn_norm", n.epsilon);
      const Operand fed = gated_feed_forward(builder, normed, n.hidden, "activation.gelu_tanh");
      h = residual_add(builder, "ffn_residual", rms_norm(builder, "post_ffw_norm", fed, "post_ffw_norm", n.epsilon), h);
    }
    builder.end_layers();
    language_head(builder, inputs, h, n);
  }

 private:
  Operand attention(CircuitBuilder& builder, const PassOperands& inputs, const Operand& h, int layer) const {
    const GemmaNumbers& n = numbers_;
    const bool slides = n.slides[static_cast<std::size_t>(layer)];
    const Operand normed = rms_norm(builder, "attn_norm", h, "attn_norm", n.epsilon);
    HeadOperands heads = project_heads(builder, normed, n);
    if (n.norms_heads) heads = normed_heads(builder, heads, n.epsilon);
    Attention attention = attention_of(n, slides);
    attention.scale = n.scale;
    return attention_of_heads(builder, inputs, heads, n, slides ? n.window_rotation : n.rotation, attention);
  }

  GemmaNumbers numbers_;
  ModelFacts facts_;
};

// Files do not say how scores are scaled, except translated ones. It is 1 / sqrt(d) with d of a head, but for the
// largest model of each generation, known by its layers, where d is a head's share of the width.
Result<double> read_scale(const Keys& keys, const DecoderNumbers& numbers, std::int64_t layers_of_largest) {
  const bool is_largest = numbers.layers == layers_of_largest;
  const std::int64_t share = numbers.width / numbers.heads;
  return keys.number_or("attention.scale",
                        is_largest ? 1 / std::sqrt(static_cast<double>(share)) : numbers.attention_scale());
}

Result<std::unique_ptr<Template>> create_gemma2(const ModelSource& source) {
  const Keys keys(source.metadata, "gemma2");
  GemmaNumbers numbers{TRY(read_decoder_numbers(source, "gemma2", PairStyle::half_split)), {}, 1, false, {}};
  // The first files of this architecture left these out.
  numbers.attention_softcap = TRY(keys.number_or("attn_logit_softcapping", 50));
  numbers.final_softcap = TRY(keys.number_or("final_logit_softcapping", 30));
  if (!keys.has("attention.sliding_window")) numbers.window = 4096;
  numbers.slides = TRY(read_sliding_layers(source, "gemma2", numbers.layers, 2));
  numbers.scale = TRY(read_scale(keys, numbers, 46));
  numbers.window_rotation = numbers.rotation;
  return std::unique_ptr<Template>(std::make_unique<GemmaTemplate>(std::move(numbers), "gemma2"));
}

Result<std::unique_ptr<Template>> create_gemma3(const ModelSource& source) {
  const Keys keys(source.metadata, "gemma3");
  GemmaNumbers numbers{TRY(read_decoder_numbers(source, "gemma3", PairStyle::half_split)), {}, 1, true, {}};
  numbers.attention_softcap = 0;
  // Without a window no layer slides, and none has the other frequencies.
  numbers.slides = TRY(read_sliding_layers(source, "gemma3", numbers.layers, numbers.window > 0 ? 6 : 1));
  numbers.scale = TRY(read_scale(keys, numbers, 62));
  numbers.window_rotation = numbers.rotation.unscaled();
  numbers.window_rotation.base = TRY(keys.number_or("rope.freq_base_swa", 10000));
  return std::unique_ptr<Template>(std::make_unique<GemmaTemplate>(std::move(numbers), "gemma3"));
}

constexpr std::array number_rules = {
    NumberRule{"attn_logit_softcapping", "attn_logit_softcapping"},
    NumberRule{"final_logit_softcapping", "final_logit_softcapping"},
    NumberRule{"sliding_window", "attention.sliding_window"},
    NumberRule{"sliding_window_pattern", "attention.sliding_window_pattern"},
    NumberRule{"_sliding_window_pattern", "attention.sliding_window_pattern"},
    NumberRule{"rope_parameters.sliding_attention.rope_theta", "rope.freq_base_swa"},
    NumberRule{"rope_local_base_freq", "rope.freq_base_swa"},
};

// Norms are stored as their difference from 1.
constexpr std::array norm_rules = {
    NameRule{"norm.weight", "output_norm.weight", add_plus_one},
    NameRule{"layers.{}.input_layernorm.weight", "blk.{}.attn_norm.weight", add_plus_one},
    NameRule{"layers.{}.self_attn.q_norm.weight", "blk.{}.attn_q_norm.weight", add_plus_one},
    NameRule{"layers.{}.self_attn.k_norm.weight", "blk.{}.attn_k_norm.weight", add_plus_one},
    NameRule{"layers.{}.post_attention_layernorm.weight", "blk.{}.post_attention_norm.weight", add_plus_one},
    NameRule{"layers.{}.pre_feedforward_layernorm.weight", "blk.{}.ffn_norm.weight", add_plus_one},
    NameRule{"layers.{}.post_feedforward_layernorm.weight", "blk.{}.post_ffw_norm.weight", add_plus_one},
};

CheckpointNames names() { return decoder_names(norm_rules); }

Result<void> translate(const ModelFile& file, ModelSource& source, std::string_view name) {
  const Metadata& config = file.metadata();
  Metadata& metadata = source.metadata;
  TRY(require_known(file, "hidden_activation", {"gelu_pytorch_tanh"}));
  TRY(require_flag(file, "use_bidirectional_attention", false));
  TRY(require_known(file, "rope_parameters.sliding_attention.rope_type", {"default"}));
  TRY(translate_numbers(file, name, number_rules, metadata));
  TRY(translate_decoder_numbers(file, name, metadata));
  TRY(translate_layer_types(file, name, metadata));
  const Keys keys(metadata, name);
  // What these models have where config.json leaves it out.
  set_usual_size(metadata, name, "attention.key_length", 256);
  set_usual_size(metadata, name, "attention.value_length", 256);
  const double scalar = TRY(config.number_or("query_pre_attn_scalar", 256));
  if (!(scalar > 0)) {
    return Error::of(ErrorCode::invalid_argument, "query_pre_attn_scalar: expected more than 0, found ",
                     std::to_string(scalar));
  }
  metadata.set_number(keys.key("attention.scale"), 1 / std::sqrt(scalar));

  return translate_names(file, names(), source.weights);
}

Result<void> translate_gemma2(const ModelFile& file, ModelSource& source) {
  TRY(translate(file, source, "gemma2"));
  set_zero_where_null(file, "gemma2", {"attn_logit_softcapping", "final_logit_softcapping"}, source.metadata);
  return {};
}

Result<void> translate_gemma3(const ModelFile& file, ModelSource& source) {
  TRY(translate(file, source, "gemma3"));
  set_usual_number(source.metadata, "gemma3", "rope.freq_base", 1e6);
  return {};
}

constexpr std::array<std::string_view, 1> gemma2_types = {"gemma2"};
constexpr std::array<std::string_view, 1> gemma3_types = {"gemma3_text"};

}  // namespace

extern const ModelArchitecture gemma2_architecture = {"gemma2",         gemma2_types,          create_gemma2,
                                                      translate_gemma2, PairStyle::half_split, names};
extern const ModelArchitecture gemma3_architecture = {"gemma3",         gemma3_types,          create_gemma3,
                                                      translate_gemma3, PairStyle::half_split, names};

}  // namespace ingot
