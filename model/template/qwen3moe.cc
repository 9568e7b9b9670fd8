// Qwen 3 with experts: the block of Qwen 3, with a mixture in place of the feed-forward network in most layers.
//
//   h += o(attention(rope(norm(q(n))), rope(norm(k(n))), v(n))),  n = rms_norm(h)
//   h += experts(n), or down(silu(gate(n)) up(n)),                n = rms_norm(h)
#include <array>

#include "model/template/plain_decoder.h"

namespace ingot {
namespace {

Result<std::unique_ptr<Template>> create(const ModelSource& source) {
  const DecoderNumbers numbers = TRY(read_decoder_numbers(source, "qwen3moe", PairStyle::half_split));
  const ExpertNumbers experts = TRY(read_expert_numbers(source, "qwen3moe", numbers.hidden));
  return create_plain_decoder({.numbers = numbers, .experts = experts, .head_norm = HeadNorm::rms}, "qwen3moe");
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
