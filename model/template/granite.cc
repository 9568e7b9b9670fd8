// Granite 3 and 4 (dense): the Llama block with four multipliers, of embeddings, of attention's scores, of what a
// sublayer adds, and of the vocabulary's scores.
//
//   h  = e embedding
//   h += r o(attention(rope(q(n)), rope(k(n)), v(n))),  n = rms_norm(h)
//   h += r down(silu(gate(n)) up(n)),                   n = rms_norm(h)
#include <array>

#include "model/template/decoder_pieces.h"
#include "model/template/keys.h"

namespace ingot {
namespace {

struct GraniteNumbers : DecoderNumbers {
  double embedding_scale = 1;
  double score_scale = 1;  // of attention
  double residual_scale = 1;
  double logit_divisor = 1;
  bool turns = true;  // queries and keys by their positions
};

class GraniteTemplate : public Template {
 public:
  explicit GraniteTemplate(const GraniteNumbers& numbers) : numbers_(numbers), facts_(facts_of(numbers, "granite")) {}

  const ModelFacts& facts() const override { return facts_; }

  void emit(CircuitBuilder& builder) const override {
    const GraniteNumbers& n = numbers_;
    const PassOperands inputs(builder);
    const Operand rows = embedding(builder, "embedding", inputs.tokens, "token_embd.weight", n.vocabulary, n.width);
    Operand h = scaled(builder, "embedding_scaled", rows, n.embedding_scale);
    for (int layer = 0; layer < n.layers; ++layer) {
      builder.begin_layer(layer);
      const Operand mixed = scaled(builder, "attn_scaled", attention(builder, inputs, h), n.residual_scale);
      h = residual_add(builder, "attn_residual", mixed, h);
      const Operand normed = rms_norm(builder, "ffn_norm", h, "ffn_norm", n.epsilon);
      const Operand fed = gated_feed_forward(builder, normed, n.hidden, "activation.silu");
      h = residual_add(builder, "ffn_residual", scaled(builder, "ffn_scaled", fed, n.residual_scale), h);
    }
    builder.end_layers();
    const Operand last = wanted_rows(builder, "wanted_rows", h, inputs.wanted);
    const Operand normed = rms_norm(builder, "output_norm", last, "output_norm", n.epsilon);
    // Rows are shorter than the scores that they become.
    scores(builder, scaled(builder, "output_scaled", normed, 1 / n.logit_divisor), n.vocabulary, 0);
  }

 private:
  Operand attention(CircuitBuilder& builder, const PassOperands& inputs, const Operand& h) const {
    const GraniteNumbers& n = numbers_;
    const Operand normed = rms_norm(builder, "attn_norm", h, "attn_norm", n.epsilon);
    const HeadOperands heads = project_heads(builder, normed, n);
    Attention attention = attention_of(n);
    attention.scale = n.score_scale;
    if (!n.turns) return attention_of_unturned_heads(builder, heads, n, attention);
    return attention_of_heads(builder, inputs, heads, n, n.rotation, attention);
  }

  GraniteNumbers numbers_;
  ModelFacts facts_;
};

// Files say 0 where they mean that nothing is scaled.
Result<double> read_scale(const Keys& keys, std::string_view suffix, double none) {
  const double scale = TRY(keys.number_or(suffix, 0));
  return scale == 0 ? none : scale;
}

Result<std::unique_ptr<Template>> create(const ModelSource& source) {
  const Keys keys(source.metadata, "granite");
  GraniteNumbers numbers{TRY(read_decoder_numbers(source, "granite", PairStyle::interleaved)), 1, 1, 1, 1, true};
  numbers.embedding_scale = TRY(read_scale(keys, "embedding_scale", 1));
  numbers.score_scale = TRY(read_scale(keys, "attention.scale", numbers.attention_scale()));
  numbers.residual_scale = TRY(read_scale(keys, "residual_scale", 1));
  numbers.logit_divisor = TRY(read_scale(keys, "logit_scale", 1));
  // This key of GGUF is otherwise of no consequence: here it tells models without positions.
  numbers.turns = TRY(keys.boolean_or("rope.scaling.finetuned", true));
  if (keys.has("deepstack_mapping")) {
    return Error::of(ErrorCode::unsupported, keys.key("deepstack_mapping"), ": expected a model of text, found images");
  }
  return std::unique_ptr<Template>(std::make_unique<GraniteTemplate>(numbers));
}

struct Multiplier {
  std::string_view from, to;
};

constexpr std::array multipliers = {
    Multiplier{"embedding_multiplier", "embedding_scale"},
    Multiplier{"attention_multiplier", "attention.scale"},
    Multiplier{"residual_multiplier", "residual_scale"},
    Multiplier{"logits_scaling", "logit_scale"},
};

Result<void> translate(const ModelFile& file, ModelSource& source) {
  TRY(require_known(file, "hidden_act", {"silu"}));
  TRY(require_known(file, "position_embedding_type", {"rope"}));
  TRY(translate_decoder_numbers(file, "granite", source.metadata));
  set_usual_number(source.metadata, "granite", "attention.layer_norm_rms_epsilon", 1e-6);
  for (const auto& [from, to] : multipliers) {
    const double factor = TRY(file.metadata().number_or(from, 1));
    if (factor == 0) return Error::of(ErrorCode::invalid_argument, from, ": expected another number than 0, found 0");
    source.metadata.set_number(Keys(source.metadata, "granite").key(to), factor);
  }
  return translate_names(file, decoder_names(), source.weights);
}

constexpr std::array<std::string_view, 1> model_types = {"granite"};

}  // namespace

extern const ModelArchitecture granite_architecture = {
    "granite", model_types, create, translate, PairStyle::interleaved, decoder_names};

}  // namespace ingot
