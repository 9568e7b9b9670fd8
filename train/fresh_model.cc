#include "train/fresh_model.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/random.h"
#include "model/files/quoted.h"

namespace ingot {
namespace {

// What beside the sizes makes a model of an architecture.
struct FreshArchitecture {
  std::string_view name;
  std::string_view epsilon_key;
  double epsilon;
  bool has_positions;                         // a table of them, instead of rotations
  std::array<std::string_view, 4> optionals;  // endings of the weights that a template can do without, and gets
};
constexpr FreshArchitecture fresh_architectures[] = {
    {"llama", "attention.layer_norm_rms_epsilon", 1e-5, false, {"ffn_gate.weight", "", "", ""}},
    {"qwen2",
     "attention.layer_norm_rms_epsilon",
     1e-6,
     false,
     {"ffn_gate.weight", "attn_q.bias", "attn_k.bias", "attn_v.bias"}},
    {"qwen3", "attention.layer_norm_rms_epsilon", 1e-6, false, {"ffn_gate.weight", "", "", ""}},
    {"gpt2", "attention.layer_norm_epsilon", 1e-5, true, {"attn_qkv.weight", ".bias", "", ""}},
};

class FreshWeights : public MissingWeights {
 public:
  FreshWeights(const FreshArchitecture& architecture, const TrainingConfiguration& configuration, Weights& weights)
      : architecture_(architecture),
        configuration_(configuration),
        weights_(weights),
        random_(static_cast<std::uint64_t>(configuration.seed)) {}

  bool includes(std::string_view name) const override {
    if (name == "output.weight") return !configuration_.tie_embeddings;
    return std::ranges::any_of(architecture_.optionals,
                               [&](std::string_view ending) { return !ending.empty() && name.ends_with(ending); });
  }

  Result<void> add(std::string_view name, const Shape& shape) override {
    const AnyView view = TRY(weights_.add_owned(name, DType::f32, shape));
    auto* values = reinterpret_cast<float*>(view.data());
    const bool is_norm = name.ends_with("norm.weight");
    const double deviation = is_norm || name.ends_with(".bias") ? 0 : deviation_of(name);
    for (std::int64_t index = 0; index < view.count(); ++index) {
      values[index] = is_norm ? 1 : static_cast<float>(deviation == 0 ? 0 : deviation * random_.normal());
    }
    return {};
  }

 private:
  // What is added to the residual stream is small, so that the sum over all layers is not large.
  double deviation_of(std::string_view name) const {
    const bool ends_in_residual = name.ends_with("attn_output.weight") || name.ends_with("ffn_down.weight");
    const double usual = configuration_.deviation;
    return ends_in_residual ? usual / std::sqrt(2.0 * static_cast<double>(configuration_.layers)) : usual;
  }

  const FreshArchitecture& architecture_;
  const TrainingConfiguration& configuration_;
  Weights& weights_;
  RandomNumbers random_;
};

void set_numbers(const FreshArchitecture& architecture, const TrainingConfiguration& configuration,
                 Metadata& metadata) {
  const std::string prefix = std::string(architecture.name) + ".";
  metadata.set_text("general.architecture", architecture.name);
  const auto set = [&](std::string_view key, std::int64_t value) {
    metadata.set_scalar(prefix + std::string(key), static_cast<std::uint32_t>(value));
  };
  set("block_count", configuration.layers);
  set("context_length", configuration.context);
  set("embedding_length", configuration.width);
  set("feed_forward_length", configuration.hidden);
  set("attention.head_count", configuration.heads);
  set("attention.head_count_kv", configuration.key_heads);
  set("vocab_size", configuration.vocabulary);
  metadata.set_scalar(prefix + std::string(architecture.epsilon_key), static_cast<float>(architecture.epsilon));
  if (architecture.has_positions) return;
  set("rope.dimension_count", configuration.width / configuration.heads);
  metadata.set_scalar(prefix + "rope.freq_base", 10000.0f);
}

}  // namespace

Result<ModelSource> make_fresh_model(const TrainingConfiguration& configuration) {
  const auto* architecture =
      std::ranges::find(fresh_architectures, configuration.architecture, &FreshArchitecture::name);
  if (architecture == std::end(fresh_architectures)) {
    return Error::of(ErrorCode::unsupported, "architecture: expected llama, qwen2, qwen3 or gpt2, found ",
                     Quoted{configuration.architecture}, ": others are trained from a model file (model = FILE)");
  }
  ModelSource source;
  set_numbers(*architecture, configuration, source.metadata);
  FreshWeights fresh(*architecture, configuration, source.weights);
  // Templates read the vocabulary's and the positions' numbers off these.
  TRY(fresh.add("token_embd.weight", {configuration.vocabulary, configuration.width}));
  if (architecture->has_positions) {
    TRY(fresh.add("position_embd.weight", {configuration.context, configuration.width}));
  }
  const std::unique_ptr<Template> form = TRY(create_template(source));
  CircuitBuilder builder(source.weights, {.runs = {1}, .outputs = 1});
  builder.supply(fresh);
  form->emit(builder);
  TRY(builder.finish());
  return source;
}

}  // namespace ingot
