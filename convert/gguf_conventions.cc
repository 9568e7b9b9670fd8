#include "convert/gguf_conventions.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>

#include "model/template/decoder_numbers.h"
#include "model/template/keys.h"
#include "model/template/template.h"

namespace ingot {
namespace {

// Numbers that config.json may spell as integers, and GGUF's readers want as
// f32 only.
constexpr std::array<std::string_view, 13> fractional_keys = {
    ".rope.freq_base",
    ".rope.freq_base_swa",
    ".rope.scaling.factor",
    ".rope.scaling.low_freq_factor",
    ".rope.scaling.high_freq_factor",
    ".rope.scaling.yarn_beta_fast",
    ".rope.scaling.yarn_beta_slow",
    ".attention.layer_norm_epsilon",
    ".attention.layer_norm_rms_epsilon",
    ".attention.scale",
    "_logit_softcapping",
    ".expert_weights_scale",
    ".logit_scale",
};

bool is_fractional(std::string_view key) {
  return std::any_of(fractional_keys.begin(), fractional_keys.end(),
                     [&](std::string_view suffix) { return key.ends_with(suffix); });
}

template <class Narrow>
bool all_fit(const ScalarList& list) {
  for (std::size_t index = 0; index < list.size(); ++index) {
    const std::int64_t value = list.integer(index);
    if (value < std::numeric_limits<Narrow>::min() || value > std::numeric_limits<Narrow>::max()) return false;
  }
  return true;
}

template <class Narrow>
void set_narrowed(Metadata& metadata, std::string_view key, const ScalarList& list, bool is_list) {
  std::vector<Narrow> values(list.size());
  for (std::size_t index = 0; index < values.size(); ++index) {
    values[index] = std::is_floating_point_v<Narrow> ? static_cast<Narrow>(list.number(index))
                                                     : static_cast<Narrow>(list.integer(index));
  }
  if (is_list) {
    metadata.set_scalar_list<Narrow>(key, values);
  } else {
    metadata.set_scalar(key, values[0]);
  }
}

// JSON's numbers are as wide as they come.
Result<void> add_narrowed(Metadata& metadata, std::string_view key, const MetadataValue& value) {
  const bool is_whole = value.kind == ValueKind::i64 || value.kind == ValueKind::u64;
  if (is_whole || value.kind == ValueKind::f64) {
    const ScalarList list(value.kind, value.bytes);
    if (!is_whole || is_fractional(key)) {
      set_narrowed<float>(metadata, key, list, value.is_list);
      return {};
    }
    if (all_fit<std::uint32_t>(list)) {
      set_narrowed<std::uint32_t>(metadata, key, list, value.is_list);
      return {};
    }
    if (all_fit<std::int32_t>(list)) {
      set_narrowed<std::int32_t>(metadata, key, list, value.is_list);
      return {};
    }
  }
  return metadata.add_view(key, value);
}

// Of these, other readers take a number alone: of every so many layers the last one sees everything.
constexpr std::array<std::string_view, 5> counted_patterns = {"gemma2", "gemma3", "gemma3n", "olmo2", "gpt-oss"};

// The number that says the same as the list, if there is one.
std::optional<std::uint32_t> period_of(const ScalarList& slides) {
  std::size_t period = 1;
  while (period <= slides.size() && slides.boolean(period - 1)) ++period;
  if (period > slides.size()) return std::nullopt;
  for (std::size_t layer = 0; layer < slides.size(); ++layer) {
    if (slides.boolean(layer) != (layer % period != period - 1)) return std::nullopt;
  }
  return static_cast<std::uint32_t>(period);
}

// Frequencies below one turn in the original context's `low` part are divided
// by the factor, those above its `high` part stay, and between them the divisor
// changes smoothly.
Result<std::vector<float>> llama3_factors(const Keys& keys) {
  const std::int64_t heads = TRY(keys.size("attention.head_count", most_width));
  const std::int64_t width = TRY(keys.size("embedding_length", most_width));
  const std::int64_t head = TRY(keys.size_or("attention.key_length", width / heads, most_width));
  const std::int64_t dimensions = TRY(keys.size_or("rope.dimension_count", head, most_width));
  const std::int64_t context = TRY(keys.size("context_length", most_context));
  const auto original =
      static_cast<double>(TRY(keys.size_or("rope.scaling.original_context_length", context, most_context)));
  const double base = TRY(keys.number_or("rope.freq_base", 10000));
  const double factor = TRY(keys.number_or("rope.scaling.factor", 1));
  const double low = TRY(keys.number_or("rope.scaling.low_freq_factor", 1));
  const double high = TRY(keys.number_or("rope.scaling.high_freq_factor", 4));
  if (!(base > 0 && factor > 0 && high > low)) {
    return Error::of(ErrorCode::invalid_argument, keys.key("rope.scaling"),
                     ": expected a base and a factor above 0, and a high "
                     "factor above the low one");
  }
  std::vector<float> factors;
  for (std::int64_t pair = 0; pair < dimensions / 2; ++pair) {
    const double frequency = std::pow(base, -2.0 * static_cast<double>(pair) / static_cast<double>(dimensions));
    const double turns = original * frequency / (2 * std::numbers::pi);
    const double share = std::clamp((turns - low) / (high - low), 0.0, 1.0);
    factors.push_back(static_cast<float>(1 / ((1 - share) / factor + share)));
  }
  return factors;
}

}  // namespace

Result<GgufConventions> follow_gguf_conventions(const Metadata& translated, const Weights& weights) {
  GgufConventions result;
  const std::string_view architecture = TRY(translated.text("general.architecture"));
  const Keys keys(translated, architecture);
  const bool moves_scaling = TRY(keys.text_or("rope.scaling.type", "")) == "llama3";
  if (moves_scaling) result.rope_factors = TRY(llama3_factors(keys));
  const bool counts_pattern = std::ranges::find(counted_patterns, architecture) != counted_patterns.end();
  const std::string pattern_key = keys.key("attention.sliding_window_pattern");
  const std::string magnitude_key = keys.key("rope.scaling.attn_factor");
  const double magnitude_unit = TRY(gguf_magnitude_unit(keys));
  for (const Metadata::Entry& entry : translated.entries()) {
    const bool is_moved = moves_scaling && entry.key.starts_with(keys.key("rope.scaling."));
    if (is_moved || entry.key == rope_style_key) continue;
    if (entry.key == magnitude_key) {
      const double magnitude = TRY(translated.number(magnitude_key)) / magnitude_unit;
      result.metadata.set_scalar(magnitude_key, static_cast<float>(magnitude));
      continue;
    }
    if (counts_pattern && entry.key == pattern_key && entry.value.is_list && entry.value.kind == ValueKind::boolean) {
      if (const auto period = period_of(ScalarList(entry.value.kind, entry.value.bytes))) {
        result.metadata.set_scalar(pattern_key, *period);
        continue;
      }
    }
    TRY(add_narrowed(result.metadata, entry.key, entry.value));
  }
  const auto set_rows = [&](const std::string& key, std::string_view tensor) {
    const ConstAnyView* view = weights.find(tensor);
    if (view == nullptr || view->rank() != 2 || result.metadata.has(key)) return;
    result.metadata.set_scalar(key, static_cast<std::uint32_t>(view->size(0)));
  };
  set_rows(keys.key("vocab_size"), "token_embd.weight");
  set_rows("tokenizer.ggml.token_type_count", "token_types.weight");

  const bool turns_halves = TRY(translated.text_or(rope_style_key, "")) == "half_split";
  const bool turns_neighbours = TRY(find_architecture(architecture))->pairs_in_gguf == PairStyle::interleaved;
  if (turns_halves && turns_neighbours) result.interleaved = TRY(turned_heads(keys));
  return result;
}

}  // namespace ingot
