// OLMo 2 and OLMo 3. Nothing is normed before a sublayer: its answer is, before it is added, and so are all heads of q
// as one row, and those of k.
//
//   h += post_norm(o(attention(rope(norm(q(h))), rope(norm(k(h))), v(h))))
//   h += post_norm(down(silu(gate(h)) up(h)))
//
// In OLMo 3 some layers see no further than a window. Their positions are turned without the others' scaling.
#include <array>

#include "model/template/decoder_pieces.h"
#include "model/template/keys.h"

namespace ingot {
namespace {

struct OlmoNumbers : DecoderNumbers {
  std::vector<bool> slides;  // by layer
  Rotation window_rotation;  // of the layers that slide
};

class OlmoTemplate : public Template {
 public:
  explicit OlmoTemplate(OlmoNumbers numbers) : numbers_(std::move(numbers)), facts_(facts_of(numbers_, "olmo2")) {}

  const ModelFacts& facts() const override { return facts_; }

  void emit(CircuitBuilder& builder) const override {
    const OlmoNumbers& n = numbers_;
    const PassOperands inputs(builder);
    Operand h = embedding(builder, "embedding", inputs.tokens, "token_embd.weight", n.vocabulary, n.width);
    for (int layer = 0; layer < n.layers; ++layer) {
      builder.begin_layer(layer);
      const Operand mixed = attention(builder, inputs, h, layer);
      h = residual_add(builder, "attn_residual",
                       rms_norm(builder, "post_attention_norm", mixed, "post_attention_norm", n.epsilon), h);
      const Operand fed = gated_feed_forward(builder, h, n.hidden, "activation.silu");
      h = residual_add(builder, "ffn_residual", rms_norm(builder, "post_ffw_norm", fed, "post_ffw_norm", n.epsilon), h);
    }
    builder.end_layers();
    language_head(builder, inputs, h, n);
  }

 private:
  Operand attention(CircuitBuilder& builder, const PassOperands& inputs, const Operand& h, int layer) const {
    const OlmoNumbers& n = numbers_;
    const bool slides = n.slides[static_cast<std::size_t>(layer)];
    const HeadOperands heads = jointly_normed_heads(builder, project_heads(builder, h, n), n.epsilon);
    return attention_of_heads(builder, inputs, heads, n, slides ? n.window_rotation : n.rotation,
                              attention_of(n, slides));
  }

  OlmoNumbers numbers_;
  ModelFacts facts_;
};

Result<std::unique_ptr<Template>> create(const ModelSource& source) {
  OlmoNumbers numbers{TRY(read_decoder_numbers(source, "olmo2", PairStyle::half_split)), {}, {}};
  // Without a window no layer slides, as in all of OLMo 2.
  numbers.slides = TRY(read_sliding_layers(source, "olmo2", numbers.layers, numbers.window > 0 ? 4 : 1));
  numbers.window_rotation = numbers.rotation.unscaled();
  numbers.window_rotation.base =
      TRY(Keys(source.metadata, "olmo2").number_or("rope.freq_base_swa", numbers.rotation.base));
  return std::unique_ptr<Template>(std::make_unique<OlmoTemplate>(std::move(numbers)));
}

constexpr std::array window_rules = {
    NumberRule{"sliding_window", "attention.sliding_window"},
    NumberRule{"rope_parameters.sliding_attention.rope_theta", "rope.freq_base_swa"},
};

constexpr std::array norm_rules = {
    NameRule{"layers.{}.post_attention_layernorm.weight", "blk.{}.post_attention_norm.weight"},
    NameRule{"layers.{}.post_feedforward_layernorm.weight", "blk.{}.post_ffw_norm.weight"},
};

CheckpointNames names() { return decoder_names(norm_rules); }

Result<void> translate(const ModelFile& file, ModelSource& source) {
  TRY(require_known(file, "hidden_act", {"silu"}));
  TRY(require_known(file, "rope_parameters.sliding_attention.rope_type", {"default"}));
  const bool is_third = TRY(file.metadata().text("model_type")) == "olmo3";
  if (is_third) TRY(translate_numbers(file, "olmo2", window_rules, source.metadata));
  TRY(translate_decoder_numbers(file, "olmo2", source.metadata));
  if (is_third) {
    TRY(translate_layer_types(file, "olmo2", source.metadata));
    set_usual_size(source.metadata, "olmo2", "attention.sliding_window", 4096);
    set_usual_number(source.metadata, "olmo2", "rope.freq_base", 500000);
  }
  return translate_names(file, names(), source.weights);
}

constexpr std::array<std::string_view, 2> model_types = {"olmo2", "olmo3"};

}  // namespace

extern const ModelArchitecture olmo2_architecture = {"olmo2",   model_types,           create,
                                                     translate, PairStyle::half_split, names};

}  // namespace ingot
