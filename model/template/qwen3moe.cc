// Qwen 3 with experts: the block of Qwen 3, with a mixture in place of the feed-forward network in most layers.
//
//   h += o(attention(rope(norm(q(n))), rope(norm(k(n))), v(n))),  n = rms_norm(h)
//   h += experts(n), or down(silu(gate(n)) up(n)),                n = rms_norm(h)
#include <array>

#include "model/template/decoder_pieces.h"
#include "model/template/experts.h"

namespace ingot {
namespace {

class Qwen3MoeTemplate : public Template {
 public:
  Qwen3MoeTemplate(const DecoderNumbers& numbers, const ExpertNumbers& experts)
      : numbers_(numbers), experts_(experts), facts_(facts_of(numbers, "qwen3moe")) {}

  const ModelFacts& facts() const override { return facts_; }

  void emit(CircuitBuilder& builder) const override {
    const DecoderNumbers& n = numbers_;
    const PassOperands inputs(builder);
    const Operand h = plain_layers(
        builder, inputs, n,
        {.mixed = [&](const Operand& x, int) { return attention(builder, inputs, x); },
         .fed = [&](const Operand& x) { return feed_forward(builder, x, n.hidden, experts_); }});
    language_head(builder, inputs, h, n);
  }

 private:
  Operand attention(CircuitBuilder& builder, const PassOperands& inputs, const Operand& x) const {
    const DecoderNumbers& n = numbers_;
    const HeadOperands heads = normed_heads(builder, project_heads(builder, x, n), n.epsilon);
    return attention_of_heads(builder, inputs, heads, n, n.rotation, attention_of(n));
  }

  DecoderNumbers numbers_;
  ExpertNumbers experts_;
  ModelFacts facts_;
};

Result<std::unique_ptr<Template>> create(const ModelSource& source) {
  const DecoderNumbers numbers = TRY(read_decoder_numbers(source, "qwen3moe", PairStyle::half_split));
  const ExpertNumbers experts = TRY(read_expert_numbers(source, "qwen3moe", numbers.hidden));
  return std::unique_ptr<Template>(std::make_unique<Qwen3MoeTemplate>(numbers, experts));
}

Result<void> translate(const ModelFile& file, ModelSource& source) {
  const Metadata& config = file.metadata();
  TRY(require_known(file, "hidden_act", {"silu"}));
  // GGUF's files always normalise the experts' weights; a checkpoint only where it says so.
  source.metadata.set_boolean("qwen3moe.expert_weights_norm", TRY(config.boolean_or("norm_topk_prob", false)));
  TRY(translate_decoder_numbers(file, "qwen3moe", source.metadata));
  if (TRY(config.boolean_or("use_sliding_window", false))) {
    source.metadata.set_integer("qwen3moe.attention.sliding_window", TRY(config.integer_or("sliding_window", 0)));
  }
  return translate_names(file, decoder_names(), source.weights);
}

constexpr std::array<std::string_view, 1> model_types = {"qwen3_moe"};

}  // namespace

extern const ModelArchitecture qwen3moe_architecture = {"qwen3moe", model_types,           create,
                                                        translate,  PairStyle::half_split, decoder_names};

}  // namespace ingot
