// BERT: an encoder. Every token sees its whole run, and the result is a vector a token, the last hidden state.
//
//   h = layer_norm(embedding[token] + type_embedding[0] + position_embedding[position])
//   h = layer_norm(h + o(attention(q(h), k(h), v(h))))
//   h = layer_norm(h + down(gelu(up(h))))
#include <array>

#include "model/template/companions.h"
#include "model/template/decoder_pieces.h"
#include "model/template/embedder.h"
#include "model/template/keys.h"

namespace ingot {
namespace {

class BertTemplate : public Template {
 public:
  BertTemplate(const DecoderNumbers& numbers, std::int64_t types, Pooling pooling)
      : numbers_(numbers), types_(types), facts_(facts_of(numbers, "bert")) {
    facts_.has_position_table = true;
    facts_.makes_embeddings = true;
    facts_.sees_the_future = true;
    facts_.pooling = pooling;
  }

  const ModelFacts& facts() const override { return facts_; }

  void emit(CircuitBuilder& builder) const override {
    const DecoderNumbers& n = numbers_;
    const PassOperands inputs(builder);
    Operand h = embedded(builder, inputs);
    for (int layer = 0; layer < n.layers; ++layer) {
      builder.begin_layer(layer);
      const HeadOperands heads = project_heads(builder, h, n);
      const Operand mixed = attention_over_runs(builder, heads.q, heads.k, heads.v, attention_of(n), MaskKind::full);
      h = residual_add(builder, "attn_residual", linear(builder, "attn_output", mixed, n.width), h);
      h = layer_norm(builder, "attn_output_norm", h, "attn_output_norm", n.epsilon);
      h = residual_add(builder, "ffn_residual", feed_forward(builder, h, n.hidden, "activation.gelu"), h);
      h = layer_norm(builder, "layer_output_norm", h, "layer_output_norm", n.epsilon);
    }
    builder.end_layers();
    const Operand result = builder.output(pass_inputs::result, {builder.pass().outputs, n.width});
    builder.call("layout.gather_rows", pass_inputs::result, {{"table", h}, {"indices", inputs.wanted}, {"y", result}});
  }

 private:
  Operand embedded(CircuitBuilder& builder, const PassOperands& inputs) const {
    const DecoderNumbers& n = numbers_;
    const Operand rows = embedding(builder, "embedding", inputs.tokens, "token_embd.weight", n.vocabulary, n.width);
    const Operand places = embedding(builder, "position", inputs.positions, "position_embd.weight", n.context, n.width);
    Operand h = residual_add(builder, "embedding_placed", rows, places);
    if (types_ > 0) {  // all tokens are of the first type
      const Operand first = builder.sliced(builder.weight("token_types.weight", {types_, n.width}), 0, 0, 1);
      const Operand type = builder.activation("type", {1, n.width});
      builder.call("layout.cast", "type", {{"x", first}, {"y", type}});
      const Operand typed = builder.activation("embedding_typed", h.shape);
      builder.call("elementwise.add", "embedding_typed", {{"a", h}, {"b", type}, {"y", typed}});
      h = typed;
    }
    return layer_norm(builder, "token_embd_norm", h, "token_embd_norm", n.epsilon);
  }

  DecoderNumbers numbers_;
  std::int64_t types_;  // 0: none
  ModelFacts facts_;
};

Result<std::unique_ptr<Template>> create(const ModelSource& source) {
  const Keys keys(source.metadata, "bert");
  if (TRY(keys.boolean_or("attention.causal", false))) {
    return Error::of(ErrorCode::unsupported, "bert.attention.causal: expected false, found true");
  }
  DecoderNumbers numbers = TRY(read_decoder_numbers(source, "bert", PairStyle::half_split));
  numbers.context = TRY(read_position_rows(source));
  const ConstAnyView* types = source.weights.find("token_types.weight");
  const std::int64_t type_count = types != nullptr && types->rank() == 2 ? types->size(0) : 0;
  // Where a file does not say, tokens keep their vectors.
  const Pooling pooling = TRY(read_pooling_key(source.metadata)).value_or(Pooling::none);
  return std::unique_ptr<Template>(std::make_unique<BertTemplate>(numbers, type_count, pooling));
}

constexpr std::array number_rules = {
    NumberRule{"num_hidden_layers", "block_count"},
    NumberRule{"max_position_embeddings", "context_length"},
    NumberRule{"hidden_size", "embedding_length"},
    NumberRule{"intermediate_size", "feed_forward_length"},
    NumberRule{"num_attention_heads", "attention.head_count"},
    NumberRule{"layer_norm_eps", "attention.layer_norm_epsilon"},
};

constexpr std::array name_rules = {
    NameRule{"embeddings.word_embeddings.weight", "token_embd.weight"},
    NameRule{"embeddings.token_type_embeddings.weight", "token_types.weight"},
    NameRule{"embeddings.position_embeddings.weight", "position_embd.weight"},
    NameRule{"embeddings.LayerNorm.weight", "token_embd_norm.weight"},
    NameRule{"embeddings.LayerNorm.bias", "token_embd_norm.bias"},
    NameRule{"encoder.layer.{}.attention.self.query.weight", "blk.{}.attn_q.weight"},
    NameRule{"encoder.layer.{}.attention.self.query.bias", "blk.{}.attn_q.bias"},
    NameRule{"encoder.layer.{}.attention.self.key.weight", "blk.{}.attn_k.weight"},
    NameRule{"encoder.layer.{}.attention.self.key.bias", "blk.{}.attn_k.bias"},
    NameRule{"encoder.layer.{}.attention.self.value.weight", "blk.{}.attn_v.weight"},
    NameRule{"encoder.layer.{}.attention.self.value.bias", "blk.{}.attn_v.bias"},
    NameRule{"encoder.layer.{}.attention.output.dense.weight", "blk.{}.attn_output.weight"},
    NameRule{"encoder.layer.{}.attention.output.dense.bias", "blk.{}.attn_output.bias"},
    NameRule{"encoder.layer.{}.attention.output.LayerNorm.weight", "blk.{}.attn_output_norm.weight"},
    NameRule{"encoder.layer.{}.attention.output.LayerNorm.bias", "blk.{}.attn_output_norm.bias"},
    NameRule{"encoder.layer.{}.intermediate.dense.weight", "blk.{}.ffn_up.weight"},
    NameRule{"encoder.layer.{}.intermediate.dense.bias", "blk.{}.ffn_up.bias"},
    NameRule{"encoder.layer.{}.output.dense.weight", "blk.{}.ffn_down.weight"},
    NameRule{"encoder.layer.{}.output.dense.bias", "blk.{}.ffn_down.bias"},
    NameRule{"encoder.layer.{}.output.LayerNorm.weight", "blk.{}.layer_output_norm.weight"},
    NameRule{"encoder.layer.{}.output.LayerNorm.bias", "blk.{}.layer_output_norm.bias"},
    // The first checkpoints call a norm's weight gamma and its bias beta.
    NameRule{"embeddings.LayerNorm.gamma", "token_embd_norm.weight"},
    NameRule{"embeddings.LayerNorm.beta", "token_embd_norm.bias"},
    NameRule{"encoder.layer.{}.attention.output.LayerNorm.gamma", "blk.{}.attn_output_norm.weight"},
    NameRule{"encoder.layer.{}.attention.output.LayerNorm.beta", "blk.{}.attn_output_norm.bias"},
    NameRule{"encoder.layer.{}.output.LayerNorm.gamma", "blk.{}.layer_output_norm.weight"},
    NameRule{"encoder.layer.{}.output.LayerNorm.beta", "blk.{}.layer_output_norm.bias"},
    // Heads that make something else of the hidden states.
    NameRule{"pooler.dense.weight", "", leave_out},
    NameRule{"pooler.dense.bias", "", leave_out},
    NameRule{"classifier.weight", "", leave_out},
    NameRule{"classifier.bias", "", leave_out},
    NameRule{"cls.seq_relationship.weight", "", leave_out},
    NameRule{"cls.seq_relationship.bias", "", leave_out},
    NameRule{"cls.predictions.bias", "", leave_out},
    NameRule{"cls.predictions.decoder.weight", "", leave_out},
    NameRule{"cls.predictions.decoder.bias", "", leave_out},
    NameRule{"cls.predictions.transform.dense.weight", "", leave_out},
    NameRule{"cls.predictions.transform.dense.bias", "", leave_out},
    NameRule{"cls.predictions.transform.LayerNorm.weight", "", leave_out},
    NameRule{"cls.predictions.transform.LayerNorm.bias", "", leave_out},
    NameRule{"cls.predictions.transform.LayerNorm.gamma", "", leave_out},
    NameRule{"cls.predictions.transform.LayerNorm.beta", "", leave_out},
};

constexpr std::array<std::string_view, 1> prefixes = {"bert."};
CheckpointNames names() { return {prefixes, name_rules}; }

Result<void> translate(const ModelFile& file, ModelSource& source) {
  TRY(require_known(file, "hidden_act", {"gelu"}));
  TRY(require_known(file, "position_embedding_type", {"absolute"}));
  TRY(require_flag(file, "is_decoder", false));
  TRY(translate_numbers(file, "bert", number_rules, source.metadata));
  const Pooling pooling = TRY(read_folder_pooling(file));
  source.metadata.set_integer("bert.pooling_type", static_cast<std::int64_t>(pooling));
  return translate_names(file, names(), source.weights);
}

constexpr std::array<std::string_view, 1> model_types = {"bert"};

}  // namespace

extern const ModelArchitecture bert_architecture = {"bert",    model_types,           create,
                                                    translate, PairStyle::half_split, names};

}  // namespace ingot
