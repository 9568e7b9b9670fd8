// GLM 4 (0414), dense: every sublayer is normed before and after, gate and up are one matrix, and of each head a part
// turns, by pairs of neighbours.
//
//   h += post_norm(o(attention(rope(q(n)), rope(k(n)), v(n)))),  n = rms_norm(h)
//   h += post_norm(down(silu(gate) up)),                         [gate | up] = up(rms_norm(h))
#include <array>

#include "model/template/decoder_pieces.h"
#include "model/template/keys.h"

namespace ingot {
namespace {

class Glm4Template : public Template {
 public:
  explicit Glm4Template(const DecoderNumbers& numbers) : numbers_(numbers), facts_(facts_of(numbers, "glm4")) {}

  const ModelFacts& facts() const override { return facts_; }

  void emit(CircuitBuilder& builder) const override {
    const DecoderNumbers& n = numbers_;
    const PassOperands inputs(builder);
    Operand h = embedding(builder, "embedding", inputs.tokens, "token_embd.weight", n.vocabulary, n.width);
    for (int layer = 0; layer < n.layers; ++layer) {
      builder.begin_layer(layer);
      const Operand mixed = attention(builder, inputs, h);
      h = residual_add(builder, "attn_residual",
                       rms_norm(builder, "post_attention_norm", mixed, "post_attention_norm", n.epsilon), h);
      const Operand normed = rms_norm(builder, "ffn_norm", h, "ffn_norm", n.epsilon);
      const Operand fed = gated_feed_forward(builder, normed, n.hidden, "activation.silu");
      h = residual_add(builder, "ffn_residual", rms_norm(builder, "post_ffw_norm", fed, "post_ffw_norm", n.epsilon), h);
    }
    builder.end_layers();
    language_head(builder, inputs, h, n);
  }

 private:
  Operand attention(CircuitBuilder& builder, const PassOperands& inputs, const Operand& h) const {
    const DecoderNumbers& n = numbers_;
    const Operand normed = rms_norm(builder, "attn_norm", h, "attn_norm", n.epsilon);
    return attention_of_heads(builder, inputs, project_heads(builder, normed, n), n, n.rotation, attention_of(n));
  }

  DecoderNumbers numbers_;
  ModelFacts facts_;
};

Result<std::unique_ptr<Template>> create(const ModelSource& source) {
  const Keys keys(source.metadata, "glm4");
  // Files of models that see images have their heads' rows in another order.
  if (keys.has("rope.dimension_sections")) {
    return Error::of(ErrorCode::unsupported, keys.key("rope.dimension_sections"), ": expected none, found some");
  }
  const DecoderNumbers numbers = TRY(read_decoder_numbers(source, "glm4", PairStyle::interleaved));
  return std::unique_ptr<Template>(std::make_unique<Glm4Template>(numbers));
}

constexpr std::array head_rules = {
    NumberRule{"head_dim", "attention.key_length"},
    NumberRule{"head_dim", "attention.value_length"},
};

constexpr std::array norm_rules = {
    NameRule{"layers.{}.post_self_attn_layernorm.weight", "blk.{}.post_attention_norm.weight"},
    NameRule{"layers.{}.post_mlp_layernorm.weight", "blk.{}.post_ffw_norm.weight"},
};

CheckpointNames names() { return decoder_names(norm_rules); }

Result<void> translate(const ModelFile& file, ModelSource& source) {
  TRY(require_known(file, "hidden_act", {"silu"}));
  Metadata& metadata = source.metadata;
  // Before the rest, because what turns is a share of it.
  TRY(translate_numbers(file, "glm4", head_rules, metadata));
  set_usual_size(metadata, "glm4", "attention.key_length", 128);
  set_usual_size(metadata, "glm4", "attention.value_length", 128);
  TRY(translate_decoder_numbers(file, "glm4", metadata));
  set_usual_number(metadata, "glm4", "attention.layer_norm_rms_epsilon", 1.5625e-7);
  const Keys keys(metadata, "glm4");
  set_usual_size(metadata, "glm4", "rope.dimension_count", TRY(keys.size("attention.key_length", most_width)) / 2);
  metadata.set_text(rope_style_key, "interleaved");
  return translate_names(file, names(), source.weights);
}

constexpr std::array<std::string_view, 1> model_types = {"glm4"};

}  // namespace

extern const ModelArchitecture glm4_architecture = {
    "glm4", model_types, create, translate, PairStyle::interleaved, names, PairStyle::interleaved};

}  // namespace ingot
