#include "model/template/decoder_numbers.h"

#include <algorithm>
#include <cmath>

#include "model/template/keys.h"

namespace ingot {
namespace {

std::string_view factor_key_of(const Keys& keys) {
  return keys.has("rope.scaling.factor") ? "rope.scaling.factor" : "rope.scale_linear";
}

Result<void> read_scaling(const Keys& keys, std::int64_t context, Rotation& rotation) {
  const std::string_view factor_key = factor_key_of(keys);
  rotation.factor = TRY(keys.number_or(factor_key, 1));
  rotation.original_context = TRY(keys.size_or("rope.scaling.original_context_length", context, most_context));
  rotation.low_freq_factor = TRY(keys.number_or("rope.scaling.low_freq_factor", 1));
  rotation.high_freq_factor = TRY(keys.number_or("rope.scaling.high_freq_factor", 4));
  rotation.beta_fast = TRY(keys.number_or("rope.scaling.yarn_beta_fast", 32));
  rotation.beta_slow = TRY(keys.number_or("rope.scaling.yarn_beta_slow", 1));
  rotation.attention_factor = TRY(keys.number_or("rope.scaling.attn_factor", 0));
  // A factor of no kind scales positions, as it did before files named a kind.
  const std::string_view kind = TRY(keys.text_or("rope.scaling.type", keys.has(factor_key) ? "linear" : "none"));
  if (kind == "none" || kind == "longrope") {
    rotation.scaling = RopeScaling::none;  // longrope's factors are a weight
  } else if (kind == "linear") {
    rotation.scaling = RopeScaling::linear;
  } else if (kind == "yarn") {
    rotation.scaling = RopeScaling::yarn;
  } else if (kind == "llama3") {
    rotation.scaling = RopeScaling::llama3;
  } else {
    return Error::of(ErrorCode::unsupported, keys.key("rope.scaling.type"),
                     ": expected none, linear, yarn, longrope or llama3, found ", kind);
  }
  return {};
}

// Only where a file says what was scaled: others have the scaled length for their context.
std::int64_t scaled_context(const Keys& keys, const Rotation& rotation) {
  if (rotation.scaling == RopeScaling::none || !keys.has("rope.scaling.original_context_length")) return 0;
  const double reached = rotation.factor * static_cast<double>(rotation.original_context);
  return reached > 0 ? static_cast<std::int64_t>(std::min(reached, static_cast<double>(most_context))) : 0;
}

// One number for all layers, or a list with one for each, in which layers without attention have 0.
Result<std::int64_t> read_key_heads(const Metadata& metadata, const Keys& keys, std::int64_t heads) {
  constexpr std::string_view suffix = "attention.head_count_kv";
  const MetadataValue* given = metadata.find(keys.key(suffix));
  if (given == nullptr || !given->is_list) return keys.size_or(suffix, heads, most_width);
  const ScalarList list = TRY(metadata.integer_list(keys.key(suffix)));
  std::int64_t found = 0;
  for (std::size_t layer = 0; layer < list.size(); ++layer) {
    const std::int64_t of_layer = list.integer(layer);
    if (of_layer < 0 || of_layer > most_width || (found != 0 && of_layer != 0 && of_layer != found)) {
      return Error::of(ErrorCode::unsupported, keys.key(suffix), ": expected ", found, " or 0 for every layer, found ",
                       of_layer);
    }
    found = std::max(found, of_layer);
  }
  return found;
}

}  // namespace

Result<PairStyle> read_pair_style(const Metadata& metadata, PairStyle usual) {
  if (!metadata.has(rope_style_key)) return usual;
  const std::string_view style = TRY(metadata.text(rope_style_key));
  if (style == "interleaved") return PairStyle::interleaved;
  if (style == "half_split") return PairStyle::half_split;
  return Error::of(ErrorCode::unsupported, rope_style_key, ": expected interleaved or half_split, found ", style);
}

Result<double> gguf_magnitude_unit(const Keys& keys) {
  if (TRY(keys.text_or("rope.scaling.type", "")) != "yarn") return 1.0;
  // Where scores have the magnitude instead, rotations have none of their own (deepseek2).
  if (TRY(keys.number_or("rope.scaling.yarn_log_multiplier", 0)) != 0) return 1.0;
  const double factor = TRY(keys.number_or(factor_key_of(keys), 1));
  return factor > 1 ? 1 + 0.1 * std::log(factor) : 1;
}

double DecoderNumbers::attention_scale() const { return 1 / std::sqrt(static_cast<double>(key_dimensions)); }

Result<DecoderNumbers> read_trunk_numbers(const ModelSource& source, std::string_view prefix) {
  const Keys keys(source.metadata, prefix);
  DecoderNumbers numbers;
  const std::int64_t blocks = TRY(keys.size("block_count", most_layers));
  // The last ones may guess further tokens, which is a model of its own.
  numbers.layers = blocks - TRY(keys.size_or("nextn_predict_layers", 0, blocks - 1));
  numbers.width = TRY(keys.size("embedding_length", most_width));
  numbers.context = keys.has("context_length") ? TRY(keys.size("context_length", most_context)) : 2048;
  numbers.epsilon = TRY(keys.number_or(keys.has("attention.layer_norm_rms_epsilon") ? "attention.layer_norm_rms_epsilon"
                                                                                    : "attention.layer_norm_epsilon",
                                       1e-5));
  const ConstAnyView* embedding_table = source.weights.find_stored("token_embd.weight").view;
  if (embedding_table == nullptr || embedding_table->rank() != 2) {
    return Error::of(ErrorCode::not_found, "expected a matrix token_embd.weight, found ",
                     embedding_table == nullptr ? "none" : "another rank");
  }
  numbers.vocabulary = embedding_table->size(0);
  return numbers;
}

Result<DecoderNumbers> read_decoder_numbers(const ModelSource& source, std::string_view prefix, PairStyle usual_style) {
  const Keys keys(source.metadata, prefix);
  DecoderNumbers numbers = TRY(read_trunk_numbers(source, prefix));
  numbers.hidden = TRY(keys.size_or("feed_forward_length", 0, most_width));
  numbers.heads = TRY(keys.size("attention.head_count", most_width));
  numbers.key_heads = TRY(read_key_heads(source.metadata, keys, numbers.heads));
  if (numbers.key_heads < 1 || numbers.heads % numbers.key_heads != 0) {
    return Error::of(ErrorCode::invalid_argument, keys.key("attention.head_count_kv"), ": expected a divisor of ",
                     numbers.heads, " heads, found ", numbers.key_heads);
  }
  numbers.key_dimensions = TRY(keys.size_or("attention.key_length", numbers.width / numbers.heads, most_width));
  numbers.value_dimensions = TRY(keys.size_or("attention.value_length", numbers.key_dimensions, most_width));
  numbers.window = TRY(keys.size_or("attention.sliding_window", 0, std::int64_t{1} << 31));
  numbers.attention_softcap = TRY(keys.number_or("attn_logit_softcapping", 0));
  numbers.final_softcap = TRY(keys.number_or("final_logit_softcapping", 0));

  Rotation& rotation = numbers.rotation;
  rotation.dimensions = TRY(keys.size_or("rope.dimension_count", numbers.key_dimensions, most_width));
  rotation.base = TRY(keys.number_or("rope.freq_base", 10000));
  rotation.style = TRY(read_pair_style(source.metadata, usual_style));
  TRY(read_scaling(keys, numbers.context, rotation));
  numbers.scaled_context = scaled_context(keys, rotation);
  const bool has_factors =
      source.weights.has("rope_factors_long.weight") || source.weights.has("rope_factors_short.weight");
  if (TRY(keys.text_or("rope.scaling.type", "none")) == "longrope" && !has_factors) {
    return Error::of(ErrorCode::not_found, keys.key("rope.scaling.type"),
                     " is longrope: expected weights rope_factors_long and rope_factors_short, found neither");
  }
  if (source.weights.has("rope_freqs.weight")) rotation.frequency_factors = "rope_freqs.weight";
  return numbers;
}

Result<std::vector<bool>> read_sliding_layers(const ModelSource& source, std::string_view prefix, std::int64_t layers,
                                              std::int64_t usual_period) {
  const Keys keys(source.metadata, prefix);
  constexpr std::string_view suffix = "attention.sliding_window_pattern";
  std::vector<bool> slides(static_cast<std::size_t>(layers));
  const MetadataValue* given = source.metadata.find(keys.key(suffix));
  if (given == nullptr || !given->is_list) {
    const std::int64_t period = TRY(keys.size_or(suffix, usual_period, most_layers));
    for (std::int64_t layer = 0; layer < layers; ++layer) {
      slides[static_cast<std::size_t>(layer)] = period == 0 || (layer + 1) % period != 0;
    }
    return slides;
  }
  const ScalarList list = TRY(source.metadata.boolean_list(keys.key(suffix)));
  if (list.size() != slides.size()) {
    return Error::of(ErrorCode::invalid_argument, keys.key(suffix), ": expected an entry for each of ", layers,
                     " layers, found ", list.size());
  }
  for (std::size_t layer = 0; layer < slides.size(); ++layer) slides[layer] = list.boolean(layer);
  return slides;
}

Result<std::int64_t> read_position_rows(const ModelSource& source) {
  const ConstAnyView* table = source.weights.find("position_embd.weight");
  if (table != nullptr && table->rank() == 2 && table->size(0) >= 1 && table->size(0) <= most_context) {
    return table->size(0);
  }
  return Error::of(ErrorCode::not_found, "expected a matrix position_embd.weight of at most ", most_context,
                   " rows, found ", table == nullptr ? "none" : "another shape");
}

ModelFacts facts_of(const DecoderNumbers& numbers, std::string_view architecture) {
  return {.architecture = std::string(architecture),
          .vocabulary = numbers.vocabulary,
          .layers = numbers.layers,
          .width = numbers.width,
          .context = numbers.context,
          .scaled_context = std::max(numbers.context, numbers.scaled_context)};
}

}  // namespace ingot
