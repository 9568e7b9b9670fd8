// Phi 3, 3.5 and 4 (mini), dense: the Llama block with one matrix for q, k and v and one for gate and up.
//
//   h += o(attention(rope(q), rope(k), v)),  [q | k | v] = qkv(rms_norm(h))
//   h += down(silu(gate) up),                [gate | up] = up(rms_norm(h))
//
// Models of a long context ("longrope") divide the rotations' frequencies by one of two lists of factors: the long one
// for sequences longer than the original context, the short one for others. Keys that are stored stay turned, so the
// choice is made before the first token, by how long a sequence may become.
#include <array>
#include <cmath>

#include "model/template/decoder_pieces.h"
#include "model/template/keys.h"

namespace ingot {
namespace {

constexpr std::string_view long_factors = "rope_factors_long.weight";
constexpr std::string_view short_factors = "rope_factors_short.weight";

class Phi3Template : public Template {
 public:
  Phi3Template(const DecoderNumbers& numbers, bool has_factors)
      : numbers_(numbers), has_factors_(has_factors), facts_(facts_of(numbers, "phi3")) {}

  const ModelFacts& facts() const override { return facts_; }

  void emit(CircuitBuilder& builder) const override {
    const DecoderNumbers& n = numbers_;
    const PassOperands inputs(builder);
    const Rotation rotation = rotation_for(builder.longest_sequence());
    const Operand h = plain_layers(
        builder, inputs, n,
        {.mixed =
             [&](const Operand& x, int) {
               return attention_of_heads(builder, inputs, project_heads(builder, x, n), n, rotation, attention_of(n));
             },
         .fed = [&](const Operand& x) { return gated_feed_forward(builder, x, n.hidden, "activation.silu"); }});
    language_head(builder, inputs, h, n);
  }

 private:
  Rotation rotation_for(std::int64_t longest_sequence) const {
    Rotation rotation = numbers_.rotation;
    if (!has_factors_) return rotation;
    rotation.frequency_factors = longest_sequence > rotation.original_context ? long_factors : short_factors;
    return rotation;
  }

  DecoderNumbers numbers_;
  bool has_factors_;
  ModelFacts facts_;
};

Result<std::unique_ptr<Template>> create(const ModelSource& source) {
  const DecoderNumbers numbers = TRY(read_decoder_numbers(source, "phi3", PairStyle::half_split));
  const bool has_factors = source.weights.has(long_factors) || source.weights.has(short_factors);
  return std::unique_ptr<Template>(std::make_unique<Phi3Template>(numbers, has_factors));
}

// The list of config.json as a weight.
Result<void> add_factors(const ModelFile& file, std::string_view key, std::string_view name, Weights& weights) {
  const std::string newer = "rope_parameters." + std::string(key);
  const std::string older = "rope_scaling." + std::string(key);
  const ScalarList list = TRY(file.metadata().number_list(file.metadata().has(newer) ? newer : older));
  const AnyView factors = TRY(weights.add_owned(name, DType::f32, {static_cast<std::int64_t>(list.size())}));
  auto* values = reinterpret_cast<float*>(factors.data());
  for (std::size_t pair = 0; pair < list.size(); ++pair) values[pair] = static_cast<float>(list.number(pair));
  return {};
}

// cos and sin grow with the ratio s of the two contexts: by sqrt(1 + ln s / ln original).
double longrope_magnitude(double context, double original) {
  return context > original ? std::sqrt(1 + std::log(context / original) / std::log(original)) : 1;
}

Result<void> translate_longrope(const ModelFile& file, ModelSource& source) {
  Metadata& metadata = source.metadata;
  const Keys keys(metadata, "phi3");
  const std::string_view kind = TRY(keys.text_or("rope.scaling.type", "none"));
  if (kind == "none") return {};
  // Older checkpoints say "su" or "yarn" and mean the same.
  if (kind != "longrope" && kind != "su" && kind != "yarn") {
    return Error::of(ErrorCode::unsupported, "rope_scaling.type: expected longrope, found ", kind);
  }
  metadata.set_text(keys.key("rope.scaling.type"), "longrope");
  TRY(add_factors(file, "long_factor", long_factors, source.weights));
  TRY(add_factors(file, "short_factor", short_factors, source.weights));
  const std::int64_t context = TRY(keys.size("context_length", most_context));
  const std::int64_t original = TRY(keys.size("rope.scaling.original_context_length", most_context));
  if (original < 2) {
    return Error::of(ErrorCode::invalid_argument, "original_max_position_embeddings: expected at least 2, found ",
                     original);
  }
  if (!keys.has("rope.scaling.attn_factor")) {
    metadata.set_number(keys.key("rope.scaling.attn_factor"),
                        longrope_magnitude(static_cast<double>(context), static_cast<double>(original)));
  }
  return {};
}

Result<void> translate(const ModelFile& file, ModelSource& source) {
  constexpr std::array rules = {
      NumberRule{"rope_parameters.original_max_position_embeddings", "rope.scaling.original_context_length"},
      NumberRule{"original_max_position_embeddings", "rope.scaling.original_context_length"},
      NumberRule{"sliding_window", "attention.sliding_window"},
  };
  TRY(require_known(file, "hidden_act", {"silu"}));
  TRY(translate_numbers(file, "phi3", rules, source.metadata));
  TRY(translate_decoder_numbers(file, "phi3", source.metadata));
  TRY(translate_longrope(file, source));
  return translate_names(file, decoder_names(), source.weights);
}

constexpr std::array<std::string_view, 1> model_types = {"phi3"};

}  // namespace

extern const ModelArchitecture phi3_architecture = {"phi3",    model_types,           create,
                                                    translate, PairStyle::half_split, decoder_names};

}  // namespace ingot
