// Llama 2 and 3, and what is built like them: Mistral, SmolLM, TinyLlama; Mixtral, with experts.
//
//   h += o(attention(rope(q(n)), rope(k(n)), v(n))),  n = rms_norm(h)
//   h += down(silu(gate(n)) up(n)), or experts(n),    n = rms_norm(h)
#include <array>

#include "model/template/plain_decoder.h"

namespace ingot {
namespace {

Result<std::unique_ptr<Template>> create(const ModelSource& source) {
  const DecoderNumbers numbers = TRY(read_decoder_numbers(source, "llama", PairStyle::interleaved));
  const ExpertNumbers experts = TRY(read_expert_numbers(source, "llama", numbers.hidden));
  return create_plain_decoder({.numbers = numbers, .experts = experts}, "llama");
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
