#include "model/template/companions.h"

#include <array>
#include <optional>

#include "model/files/json_metadata.h"

namespace ingot {
namespace {

struct NumberRow {
  std::string_view from, to;
};

constexpr std::array sampling_numbers = {
    NumberRow{"temperature", "general.sampling.temp"},
    NumberRow{"top_p", "general.sampling.top_p"},
    NumberRow{"min_p", "general.sampling.min_p"},
    NumberRow{"repetition_penalty", "general.sampling.penalty_repeat"},
};

struct PoolingName {
  std::string_view name;
  Pooling pooling;
};

// What a newer file calls it behind "pooling_mode", and an older one behind "pooling_mode_" as a flag.
constexpr std::array pooling_names = {
    PoolingName{"mean", Pooling::mean},       PoolingName{"cls", Pooling::first},
    PoolingName{"lasttoken", Pooling::last},  PoolingName{"mean_tokens", Pooling::mean},
    PoolingName{"cls_token", Pooling::first},
};

Result<Pooling> pooling_named(std::string_view name) {
  for (const PoolingName& known : pooling_names) {
    if (known.name == name) return known.pooling;
  }
  return Error::of(ErrorCode::unsupported, "pooling_mode: expected mean, cls or lasttoken, found ", name);
}

Result<Pooling> read_pooling(const Metadata& values) {
  if (values.has("pooling_mode")) return pooling_named(TRY(values.text("pooling_mode")));
  constexpr std::string_view prefix = "pooling_mode_";
  std::optional<Pooling> found;
  for (const Metadata::Entry& entry : values.entries()) {
    if (!entry.key.starts_with(prefix) || !TRY(values.boolean(entry.key))) continue;
    if (found) {
      return Error::of(ErrorCode::unsupported, "expected one way of pooling, found several, ", entry.key,
                       " among them");
    }
    found = TRY(pooling_named(entry.key.substr(prefix.size())));
  }
  if (found) return *found;
  return Error::of(ErrorCode::corrupt, "expected a way of pooling that is true, found none");
}

}  // namespace

Result<void> translate_generation_config(const ModelFile& file, Metadata& metadata) {
  const auto text = file.companion(ModelFile::Companion::generation_config);
  if (!text) return {};
  const auto translate = [&]() -> Result<void> {
    const Metadata values = TRY(metadata_from_json(*text));
    if (!TRY(values.boolean_or("do_sample", false))) return {};
    metadata.set_number("general.sampling.temp", 1);
    for (const auto& [from, to] : sampling_numbers) {
      if (values.has(from)) metadata.set_number(to, TRY(values.number(from)));
    }
    if (values.has("top_k")) metadata.set_integer("general.sampling.top_k", TRY(values.integer("top_k")));
    // Penalties there look at the whole text.
    if (values.has("repetition_penalty")) metadata.set_integer("general.sampling.penalty_last_n", -1);
    return {};
  };
  const Result<void> translated = translate();
  if (!translated.ok()) return translated.error().within("generation_config.json");
  return {};
}

Result<Pooling> read_folder_pooling(const ModelFile& file) {
  const auto text = file.companion(ModelFile::Companion::pooling);
  if (!text) return Pooling::mean;
  const auto read = [&]() -> Result<Pooling> { return read_pooling(TRY(metadata_from_json(*text))); };
  Result<Pooling> pooling = read();
  if (!pooling.ok()) return pooling.error().within("1_Pooling/config.json");
  return pooling;
}

}  // namespace ingot
