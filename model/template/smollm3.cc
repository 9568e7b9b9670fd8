// SmolLM 3: the Llama block, in which every fourth layer knows no positions.
//
//   h += o(attention(rope(q(n)), rope(k(n)), v(n))), or without rope,  n = rms_norm(h)
//   h += down(silu(gate(n)) up(n)),                                    n = rms_norm(h)
#include <array>

#include "model/template/plain_decoder.h"

namespace ingot {
namespace {

// Files do not say which layers know no positions, so it is the same for all.
constexpr std::int64_t turning_period = 4;
constexpr bool turns(std::int64_t layer) { return (layer + 1) % turning_period != 0; }

Result<std::unique_ptr<Template>> create(const ModelSource& source) {
  PlainDecoder decoder = {.numbers = TRY(read_decoder_numbers(source, "smollm3", PairStyle::interleaved))};
  decoder.score_scale = TRY(Keys(source.metadata, "smollm3").number_or("attention.scale", 0));
  for (std::int64_t layer = 0; layer < decoder.numbers.layers; ++layer) decoder.turns.push_back(turns(layer));
  return create_plain_decoder(std::move(decoder), "smollm3");
}

Result<void> require_usual_turning(const ModelFile& file) {
  const Metadata& config = file.metadata();
  const ScalarList listed = TRY(config.integer_list_or_empty("no_rope_layers"));
  for (std::size_t layer = 0; layer < listed.size(); ++layer) {
    const bool expected = turns(static_cast<std::int64_t>(layer));
    if ((listed.integer(layer) != 0) == expected) continue;
    return Error::of(ErrorCode::unsupported, "no_rope_layers: expected ", expected ? 1 : 0, " for layer ", layer,
                     ", found ", listed.integer(layer));
  }
  const std::int64_t interval = TRY(config.integer_or("no_rope_layer_interval", turning_period));
  if (interval == turning_period || !listed.empty()) return {};
  return Error::of(ErrorCode::unsupported, "no_rope_layer_interval: expected ", turning_period, ", found ", interval);
}

Result<void> translate(const ModelFile& file, ModelSource& source) {
  TRY(require_known(file, "hidden_act", {"silu"}));
  TRY(require_flag(file, "use_sliding_window", false));
  TRY(layers_of_kind(file, ""));
  TRY(require_usual_turning(file));
  TRY(translate_decoder_numbers(file, "smollm3", source.metadata));
  set_usual_number(source.metadata, "smollm3", "attention.layer_norm_rms_epsilon", 1e-6);
  set_usual_number(source.metadata, "smollm3", "rope.freq_base", 2e6);
  return translate_names(file, decoder_names(), source.weights);
}

constexpr std::array<std::string_view, 1> model_types = {"smollm3"};

}  // namespace

extern const ModelArchitecture smollm3_architecture = {
    "smollm3", model_types, create, translate, PairStyle::interleaved, decoder_names};

}  // namespace ingot
