// SmolLM 3: the Llama block, in which every fourth layer knows no positions.
//
//   h += o(attention(rope(q(n)), rope(k(n)), v(n))), or without rope,  n = rms_norm(h)
//   h += down(silu(gate(n)) up(n)),                                    n = rms_norm(h)
#include <array>

#include "model/template/decoder_pieces.h"
#include "model/template/keys.h"

namespace ingot {
namespace {

// Files do not say which layers know no positions, so it is the same for all.
constexpr std::int64_t turning_period = 4;
constexpr bool turns(std::int64_t layer) { return (layer + 1) % turning_period != 0; }

class SmolLm3Template : public Template {
 public:
  SmolLm3Template(const DecoderNumbers& numbers, double scale)
      : numbers_(numbers), scale_(scale), facts_(facts_of(numbers, "smollm3")) {}

  const ModelFacts& facts() const override { return facts_; }

  void emit(CircuitBuilder& builder) const override {
    const DecoderNumbers& n = numbers_;
    const PassOperands inputs(builder);
    const Operand h = plain_layers(
        builder, inputs, n,
        {.mixed = [&](const Operand& x, int layer) { return attention(builder, inputs, x, layer); },
         .fed = [&](const Operand& x) { return gated_feed_forward(builder, x, n.hidden, "activation.silu"); }});
    language_head(builder, inputs, h, n);
  }

 private:
  Operand attention(CircuitBuilder& builder, const PassOperands& inputs, const Operand& x, int layer) const {
    const DecoderNumbers& n = numbers_;
    const HeadOperands heads = project_heads(builder, x, n);
    Attention attention = attention_of(n);
    attention.scale = scale_;
    if (!turns(layer)) return attention_of_unturned_heads(builder, heads, n, attention);
    return attention_of_heads(builder, inputs, heads, n, n.rotation, attention);
  }

  DecoderNumbers numbers_;
  double scale_;  // of attention's scores
  ModelFacts facts_;
};

Result<std::unique_ptr<Template>> create(const ModelSource& source) {
  const DecoderNumbers numbers = TRY(read_decoder_numbers(source, "smollm3", PairStyle::interleaved));
  const double scale = TRY(Keys(source.metadata, "smollm3").number_or("attention.scale", 0));
  return std::unique_ptr<Template>(
      std::make_unique<SmolLm3Template>(numbers, scale == 0 ? numbers.attention_scale() : scale));
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
