#include "engine/peft_settings.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "model/files/json_metadata.h"
#include "model/files/quoted.h"

namespace ingot {
namespace {

constexpr std::string_view letters_of_names = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";

// What has been read by its name below, or changes nothing: the tensors say which modules there are, and a transposed
// base weight has the same product.
constexpr std::array<std::string_view, 22> known_settings = {"peft_type",
                                                             "lora_alpha",
                                                             "r",
                                                             "use_rslora",
                                                             "rank_pattern",
                                                             "alpha_pattern",
                                                             "bias",
                                                             "target_modules",
                                                             "task_type",
                                                             "exclude_modules",
                                                             "layers_to_transform",
                                                             "layers_pattern",
                                                             "fan_in_fan_out",
                                                             "lora_dropout",
                                                             "revision",
                                                             "inference_mode",
                                                             "auto_mapping",
                                                             "peft_version",
                                                             "megatron_core",
                                                             "init_lora_weights",
                                                             "base_model_name_or_path",
                                                             "qalora_group_size"};

// How A and B began, where that left the base's weights alone.
constexpr std::array<std::string_view, 3> plain_beginnings = {"gaussian", "eva", "orthogonal"};

std::string_view setting_of(std::string_view key) { return key.substr(0, key.find('.')); }

bool is_off(const MetadataValue& value, const Metadata& json, std::string_view key) {
  if (value.is_list)
    return value.bytes.empty() && json.text_list_or_empty(key).ok() && json.text_list_or_empty(key).value().empty();
  if (value.kind != ValueKind::boolean) return false;
  return !json.boolean(key).value();
}

Result<void> require_known_settings(const Metadata& json) {
  for (const Metadata::Entry& entry : json.entries()) {
    const std::string_view setting = setting_of(entry.key);
    if (std::ranges::find(known_settings, setting) != known_settings.end() || is_off(entry.value, json, entry.key))
      continue;
    return Error::of(ErrorCode::unsupported, Quoted{setting},
                     ": expected a plain adapter without it, found it set: it is not computed here");
  }
  return {};
}

Result<void> require_text(const Metadata& json, std::string_view key, std::string_view wanted) {
  const std::string_view found = TRY(json.text_or(key, wanted));
  if (found == wanted) return {};
  return Error::of(ErrorCode::unsupported, key, ": expected ", wanted, ", found ", Quoted{found});
}

Result<void> require_plain_beginning(const Metadata& json) {
  constexpr std::string_view key = "init_lora_weights";
  if (!json.has(key) || json.boolean(key).ok()) return {};
  const std::string_view found = TRY(json.text(key));
  if (std::ranges::find(plain_beginnings, found) != plain_beginnings.end()) return {};
  return Error::of(ErrorCode::unsupported, key, ": expected a beginning that leaves the base model's weights, found ",
                   Quoted{found}, ", which changes them: convert it to a plain adapter when it is saved");
}

}  // namespace

Result<PeftSettings> PeftSettings::read(std::string_view json) {
  PeftSettings settings;
  settings.json_ = TRY(metadata_from_json(json));
  const Metadata& values = settings.json_;
  TRY(values.text("peft_type"));
  TRY(require_text(values, "peft_type", "LORA"));
  TRY(require_text(values, "bias", "none"));
  TRY(require_known_settings(values));
  TRY(require_plain_beginning(values));
  settings.rank_ = TRY(values.integer("r"));
  settings.alpha_ = TRY(values.number("lora_alpha"));
  settings.divides_by_root_ = TRY(values.boolean_or("use_rslora", false));
  settings.ranks_ = TRY(settings.read_patterns("rank_pattern"));
  settings.alphas_ = TRY(settings.read_patterns("alpha_pattern"));
  return settings;
}

Result<std::vector<PeftSettings::Pattern>> PeftSettings::read_patterns(std::string_view key) const {
  std::vector<Pattern> patterns;
  for (const Metadata::Entry& entry : json_.entries()) {
    if (setting_of(entry.key) != key) continue;
    if (entry.key.size() <= key.size() + 1) {
      return Error::of(ErrorCode::corrupt, key, ": expected names of modules with numbers, found something else");
    }
    const std::string_view ending = entry.key.substr(key.size() + 1);
    if (ending.find_first_not_of(letters_of_names) != std::string_view::npos) {
      return Error::of(ErrorCode::unsupported, key, ": expected names of modules, found the expression ",
                       Quoted{ending});
    }
    patterns.push_back({ending, TRY(json_.number(entry.key))});
  }
  return patterns;
}

// The first that fits, as the library has it.
double PeftSettings::matching(const std::vector<Pattern>& patterns, std::string_view module, double otherwise) {
  for (const Pattern& pattern : patterns) {
    if (!module.ends_with(pattern.ending)) continue;
    const std::size_t before = module.size() - pattern.ending.size();
    if (before == 0 || module[before - 1] == '.') return pattern.value;
  }
  return otherwise;
}

Result<double> PeftSettings::factor(std::string_view module, std::int64_t rank) const {
  const double said = matching(ranks_, module, static_cast<double>(rank_));
  if (said != static_cast<double>(rank)) {
    return Error::of(ErrorCode::corrupt, Quoted{module},
                     ": expected matrices of the rank that adapter_config.json says, ", std::to_string(said),
                     ", found ", rank);
  }
  const double alpha = matching(alphas_, module, alpha_);
  return alpha / (divides_by_root_ ? std::sqrt(said) : said);
}

}  // namespace ingot
