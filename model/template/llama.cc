// Llama 2 and 3, and what is built like them: Mistral, SmolLM, TinyLlama; Mixtral, with experts.
//
//   h += o(attention(rope(q(n)), rope(k(n)), v(n))),  n = rms_norm(h)
//   h += down(silu(gate(n)) up(n)), or experts(n),    n = rms_norm(h)
#include <array>

#include "model/template/decoder_pieces.h"
#include "model/template/experts.h"

namespace ingot {
namespace {

class LlamaTemplate : public Template {
 public:
  LlamaTemplate(const DecoderNumbers& numbers, const ExpertNumbers& experts)
      : numbers_(numbers), experts_(experts), facts_(facts_of(numbers, "llama")) {}

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
    const HeadOperands heads = project_heads(builder, x, n);
    return attention_of_heads(builder, inputs, heads, n, n.rotation, attention_of(n));
  }

  DecoderNumbers numbers_;
  ExpertNumbers experts_;
  ModelFacts facts_;
};

Result<std::unique_ptr<Template>> create(const ModelSource& source) {
  const DecoderNumbers numbers = TRY(read_decoder_numbers(source, "llama", PairStyle::interleaved));
  const ExpertNumbers experts = TRY(read_expert_numbers(source, "llama", numbers.hidden));
  return std::unique_ptr<Template>(std::make_unique<LlamaTemplate>(numbers, experts));
}

Result<void> translate(const ModelFile& file, ModelSource& source) {
  TRY(require_known(file, "hidden_act", {"silu"}));
  TRY(translate_decoder_numbers(file, "llama", source.metadata));
  const std::string_view type = TRY(file.metadata().text("model_type"));
  if ((type == "mistral" || type == "mixtral") && file.metadata().has("sliding_window")) {
    source.metadata.set_integer("llama.attention.sliding_window", TRY(file.metadata().integer_or("sliding_window", 0)));
  }
  return translate_names(file, decoder_names(), source.weights);
}

constexpr std::array<std::string_view, 3> model_types = {"llama", "mistral", "mixtral"};

}  // namespace

extern const ModelArchitecture llama_architecture = {
    "llama", model_types, create, translate, PairStyle::interleaved, decoder_names};

}  // namespace ingot
