// Qwen 2 (2.5) and Qwen 3, dense. Both are the Llama block; Qwen 2 adds biases to q, k and v, Qwen 3 norms each head of
// q and k before they are turned. Of Qwen 3 VL it is the part that reads and writes text: between tokens of text alone,
// its positions of time, height and width are one.
//
//   h += o(attention(rope(q(n)), rope(k(n)), v(n))),  n = rms_norm(h)
//   h += down(silu(gate(n)) up(n)),                   n = rms_norm(h)
#include <array>

#include "model/template/plain_decoder.h"

namespace ingot {
namespace {

Result<std::unique_ptr<Template>> create(const ModelSource& source, std::string_view name, HeadNorm head_norm) {
  const DecoderNumbers numbers = TRY(read_decoder_numbers(source, name, PairStyle::half_split));
  std::vector<bool> slides = TRY(read_sliding_layers(source, name, numbers.layers, 0));
  return create_plain_decoder({.numbers = numbers, .slides = std::move(slides), .head_norm = head_norm}, name);
}

// The layers from max_window_layers on slide, in checkpoints that do not list them.
Result<void> translate_window(const ModelFile& file, std::string_view name, Metadata& metadata) {
  const Metadata& config = file.metadata();
  if (!TRY(config.boolean_or("use_sliding_window", false)) || !config.has("sliding_window")) return {};
  const Keys keys(metadata, name);
  metadata.set_integer(keys.key("attention.sliding_window"), TRY(config.integer("sliding_window")));
  if (config.has("layer_types")) return translate_layer_types(file, name, metadata);
  const auto layers = static_cast<std::size_t>(TRY(keys.size("block_count", most_layers)));
  const std::int64_t first = TRY(config.integer_or("max_window_layers", 28));
  std::vector<bool> slides(layers);
  for (std::size_t layer = 0; layer < layers; ++layer) slides[layer] = static_cast<std::int64_t>(layer) >= first;
  set_sliding_layers(slides, name, metadata);
  return {};
}

Result<void> translate(const ModelFile& file, ModelSource& source, std::string_view name) {
  TRY(require_known(file, "hidden_act", {"silu"}));
  TRY(translate_decoder_numbers(file, name, source.metadata));
  TRY(translate_window(file, name, source.metadata));
  return translate_names(file, decoder_names(), source.weights);
}

Result<std::unique_ptr<Template>> create_qwen2(const ModelSource& source) {
  return create(source, "qwen2", HeadNorm::none);
}
Result<void> translate_qwen2(const ModelFile& file, ModelSource& source) { return translate(file, source, "qwen2"); }

Result<std::unique_ptr<Template>> create_qwen3(const ModelSource& source) {
  return create(source, "qwen3", HeadNorm::rms);
}
Result<void> translate_qwen3(const ModelFile& file, ModelSource& source) { return translate(file, source, "qwen3"); }

Result<std::unique_ptr<Template>> create_qwen3vl(const ModelSource& source) {
  return create(source, "qwen3vl", HeadNorm::rms);
}

// GGUF's readers ask for four sections, of which the last is none, and for the layers that images enter.
Result<void> translate_sections(const ModelFile& whole, const ModelFile& text, Metadata& metadata) {
  const Keys keys(metadata, "qwen3vl");
  for (const std::string_view parent : {"rope_parameters.", "rope_scaling."}) {
    const ScalarList given = TRY(text.metadata().integer_list_or_empty(std::string(parent).append("mrope_section")));
    if (given.empty()) continue;
    std::array<std::int64_t, 4> sections = {};
    if (given.size() > sections.size()) {
      return Error::of(ErrorCode::unsupported, "mrope_section: expected at most ", sections.size(), " numbers, found ",
                       given.size());
    }
    for (std::size_t index = 0; index < given.size(); ++index) sections[index] = given.integer(index);
    metadata.set_scalar_list<std::int64_t>(keys.key("rope.dimension_sections"), sections);
    break;
  }
  const ScalarList entered = TRY(whole.metadata().integer_list_or_empty("vision_config.deepstack_visual_indexes"));
  metadata.set_integer(keys.key("n_deepstack_layers"), static_cast<std::int64_t>(entered.size()));
  return {};
}

Result<void> translate_qwen3vl(const ModelFile& file, ModelSource& source) {
  const ModelFile text = TRY(text_part(file, {"model.visual.", "visual."}));
  TRY(require_known(text, "hidden_act", {"silu"}));
  TRY(translate_decoder_numbers(text, "qwen3vl", source.metadata));
  TRY(translate_sections(file, text, source.metadata));
  return translate_names(text, decoder_names(), source.weights);
}

constexpr std::array<std::string_view, 1> qwen2_types = {"qwen2"};
constexpr std::array<std::string_view, 1> qwen3_types = {"qwen3"};
constexpr std::array<std::string_view, 1> qwen3vl_types = {"qwen3_vl"};

}  // namespace

extern const ModelArchitecture qwen2_architecture = {"qwen2",         qwen2_types,           create_qwen2,
                                                     translate_qwen2, PairStyle::half_split, decoder_names};
extern const ModelArchitecture qwen3_architecture = {"qwen3",         qwen3_types,           create_qwen3,
                                                     translate_qwen3, PairStyle::half_split, decoder_names};
extern const ModelArchitecture qwen3vl_architecture = {"qwen3vl",         qwen3vl_types,         create_qwen3vl,
                                                       translate_qwen3vl, PairStyle::half_split, decoder_names};

}  // namespace ingot
