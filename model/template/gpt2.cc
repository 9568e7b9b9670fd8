// GPT-2: learned positions, layer norms, biases everywhere, and a feed-forward network without a gate.
//
//   h  = embedding[token] + position_embedding[position]
//   h += o(attention(q, k, v)),  [q | k | v] = qkv(layer_norm(h))
//   h += down(gelu(up(layer_norm(h))))
#include <array>

#include "model/template/decoder_pieces.h"
#include "model/template/keys.h"

namespace ingot {
namespace {

class Gpt2Template : public Template {
 public:
  explicit Gpt2Template(const DecoderNumbers& numbers) : numbers_(numbers), facts_(facts_of(numbers, "gpt2")) {
    facts_.has_position_table = true;
  }

  const ModelFacts& facts() const override { return facts_; }

  void emit(CircuitBuilder& builder) const override {
    const DecoderNumbers& n = numbers_;
    const PassOperands inputs(builder);
    const Operand rows = embedding(builder, "embedding", inputs.tokens, "token_embd.weight", n.vocabulary, n.width);
    const Operand places = embedding(builder, "position", inputs.positions, "position_embd.weight", n.context, n.width);
    Operand h = residual_add(builder, "embedding_placed", rows, places);
    for (int layer = 0; layer < n.layers; ++layer) {
      builder.begin_layer(layer);
      Operand normed = layer_norm(builder, "attn_norm", h, "attn_norm", n.epsilon);
      const HeadOperands heads = project_heads(builder, normed, n);
      const Operand mixed = attention_over_runs(builder, heads.q, heads.k, heads.v, attention_of(n));
      h = residual_add(builder, "attn_residual", linear(builder, "attn_output", mixed, n.width), h);
      normed = layer_norm(builder, "ffn_norm", h, "ffn_norm", n.epsilon);
      h = residual_add(builder, "ffn_residual", feed_forward(builder, normed, n.hidden, "activation.gelu_tanh"), h);
    }
    builder.end_layers();
    h = wanted_rows(builder, "wanted_rows", h, inputs.wanted);
    scores(builder, layer_norm(builder, "output_norm", h, "output_norm", n.epsilon), n.vocabulary, 0);
  }

 private:
  DecoderNumbers numbers_;
  ModelFacts facts_;
};

Result<std::unique_ptr<Template>> create(const ModelSource& source) {
  DecoderNumbers numbers = TRY(read_decoder_numbers(source, "gpt2", PairStyle::half_split));
  numbers.context = TRY(read_position_rows(source));
  return std::unique_ptr<Template>(std::make_unique<Gpt2Template>(numbers));
}

constexpr std::array number_rules = {
    NumberRule{"n_layer", "block_count"},
    NumberRule{"n_positions", "context_length"},
    NumberRule{"n_ctx", "context_length"},
    NumberRule{"n_embd", "embedding_length"},
    NumberRule{"n_inner", "feed_forward_length"},
    NumberRule{"n_head", "attention.head_count"},
    NumberRule{"layer_norm_epsilon", "attention.layer_norm_epsilon"},
};

constexpr std::array name_rules = {
    NameRule{"wte.weight", "token_embd.weight"},
    NameRule{"wpe.weight", "position_embd.weight"},
    NameRule{"ln_f.weight", "output_norm.weight"},
    NameRule{"ln_f.bias", "output_norm.bias"},
    NameRule{"lm_head.weight", "output.weight"},
    NameRule{"h.{}.ln_1.weight", "blk.{}.attn_norm.weight"},
    NameRule{"h.{}.ln_1.bias", "blk.{}.attn_norm.bias"},
    NameRule{"h.{}.attn.c_attn.weight", "blk.{}.attn_qkv.weight", add_transposed},
    NameRule{"h.{}.attn.c_attn.bias", "blk.{}.attn_qkv.bias"},
    NameRule{"h.{}.attn.c_proj.weight", "blk.{}.attn_output.weight", add_transposed},
    NameRule{"h.{}.attn.c_proj.bias", "blk.{}.attn_output.bias"},
    NameRule{"h.{}.ln_2.weight", "blk.{}.ffn_norm.weight"},
    NameRule{"h.{}.ln_2.bias", "blk.{}.ffn_norm.bias"},
    NameRule{"h.{}.mlp.c_fc.weight", "blk.{}.ffn_up.weight", add_transposed},
    NameRule{"h.{}.mlp.c_fc.bias", "blk.{}.ffn_up.bias"},
    NameRule{"h.{}.mlp.c_proj.weight", "blk.{}.ffn_down.weight", add_transposed},
    NameRule{"h.{}.mlp.c_proj.bias", "blk.{}.ffn_down.bias"},
};

constexpr std::array<std::string_view, 1> prefixes = {"transformer."};
CheckpointNames names() { return {prefixes, name_rules}; }

Result<void> translate(const ModelFile& file, ModelSource& source) {
  TRY(require_known(file, "activation_function", {"gelu_new", "gelu_pytorch_tanh"}));
  TRY(require_flag(file, "scale_attn_weights", true));
  TRY(require_flag(file, "scale_attn_by_inverse_layer_idx", false));
  TRY(require_flag(file, "add_cross_attention", false));
  TRY(translate_numbers(file, "gpt2", number_rules, source.metadata));
  const Keys keys(source.metadata, "gpt2");
  if (!keys.has("feed_forward_length")) {
    const std::int64_t width = TRY(keys.size("embedding_length", most_width / 4));
    source.metadata.set_integer(keys.key("feed_forward_length"), 4 * width);
  }
  return translate_names(file, names(), source.weights);
}

constexpr std::array<std::string_view, 1> model_types = {"gpt2"};

}  // namespace

extern const ModelArchitecture gpt2_architecture = {"gpt2",    model_types,           create,
                                                    translate, PairStyle::half_split, names};

}  // namespace ingot
