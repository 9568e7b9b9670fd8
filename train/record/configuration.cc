#include "train/record/configuration.h"

#include "base/units.h"
#include "model/files/mapped_file.h"
#include "model/files/quoted.h"
#include "train/record/configuration_keys.h"
#include "train/record/configuration_value.h"
#include "train/record/nearest_name.h"

namespace ingot {

namespace {

constexpr std::size_t longest_configuration = std::size_t{1} << 20;
constexpr std::int64_t hidden_multiple = 32;  // rows of whole blocks, whatever format the weights get later

Result<const ConfigurationKey*> find_key(std::string_view name) {
  for (const ConfigurationKey& key : configuration_keys()) {
    if (key.name == name) return &key;
  }
  return Error::of(ErrorCode::not_found, "expected a known key, found ", Quoted{name}, "; the nearest is '",
                   nearest_name(name, configuration_keys()), "'");
}

Result<void> read_value(const ConfigurationKey& key, std::string_view value, TrainingConfiguration& configuration) {
  if (key.read(value, configuration)) return {};
  return Error::of(ErrorCode::invalid_argument, key.name, ": expected ", key.expected(), ", found ", Quoted{value});
}

// Up to a comment: a # at the start or after a blank, outside of quotes.
std::string_view without_comment(std::string_view line) {
  bool is_quoted = false;
  for (std::size_t index = 0; index < line.size(); ++index) {
    const char character = line[index];
    if (character == '\\' && is_quoted) {
      ++index;
    } else if (character == '"') {
      is_quoted = !is_quoted;
    } else if (character == '#' && !is_quoted && (index == 0 || line[index - 1] == ' ' || line[index - 1] == '\t')) {
      return line.substr(0, index);
    }
  }
  return line;
}

// Which line gave each key; 0: none yet.
using KeyLines = std::vector<std::int64_t>;

Result<void> read_line(std::string_view line, std::int64_t number, KeyLines& lines,
                       TrainingConfiguration& configuration) {
  line = trimmed(without_comment(line));
  if (line.empty()) return {};
  const std::size_t equals = line.find('=');
  if (equals == std::string_view::npos) {
    return Error::of(ErrorCode::invalid_argument, "expected 'key = value', found ", Quoted{line});
  }
  const ConfigurationKey* key = TRY(find_key(trimmed(line.substr(0, equals))));
  std::int64_t& earlier = lines[static_cast<std::size_t>(key - configuration_keys().data())];
  if (earlier != 0) {
    return Error::of(ErrorCode::invalid_argument, key->name, ": expected it once, found it on line ", earlier, " too");
  }
  earlier = number;
  return read_value(*key, trimmed(line.substr(equals + 1)), configuration);
}

// A program may have set anything: what the keys' own texts cannot say is refused like a text that says it.
Result<void> check_values(const TrainingConfiguration& configuration) {
  TrainingConfiguration read_back;
  for (const ConfigurationKey& key : configuration_keys()) {
    TRY(read_value(key, key.write(configuration), read_back));
  }
  return {};
}

Result<void> check_shape(const TrainingConfiguration& configuration) {
  if (configuration.width % configuration.heads != 0) {
    return Error::of(ErrorCode::invalid_argument, "heads: expected a divisor of width (", configuration.width,
                     "), found ", configuration.heads);
  }
  if (configuration.heads % configuration.key_heads != 0) {
    return Error::of(ErrorCode::invalid_argument, "key_heads: expected a divisor of heads (", configuration.heads,
                     "), found ", configuration.key_heads);
  }
  if (configuration.length > configuration.context) {
    return Error::of(ErrorCode::invalid_argument, "length: expected at most the context (", configuration.context,
                     "), found ", configuration.length);
  }
  return {};
}

}  // namespace

Result<void> apply_configuration(TrainingConfiguration& configuration, std::string_view text) {
  if (text.size() > longest_configuration) {
    return Error::of(ErrorCode::invalid_argument, "configuration: expected at most ", longest_configuration,
                     " bytes, found ", text.size());
  }
  TrainingConfiguration changed = configuration;
  KeyLines lines(configuration_keys().size());
  for (std::int64_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const Result<void> read = read_line(text.substr(0, end), number, lines, changed);
    if (!read.ok()) return read.error().within("line ", number);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  configuration = std::move(changed);
  return {};
}

Result<void> apply_configuration_file(TrainingConfiguration& configuration, const std::string& path) {
  const MappedFile file = TRY(MappedFile::open(path));
  const Result<void> applied = apply_configuration(configuration, file.text());
  if (!applied.ok()) return applied.error().within(Quoted{path});
  return {};
}

Result<void> set_configuration_key(TrainingConfiguration& configuration, std::string_view key, std::string_view value) {
  const ConfigurationKey* known = TRY(find_key(trimmed(key)));
  return read_value(*known, trimmed(value), configuration);
}

Result<TrainingConfiguration> completed(TrainingConfiguration configuration) {
  TRY(check_values(configuration));
  if (configuration.key_heads == 0) configuration.key_heads = configuration.heads;
  if (configuration.length == 0) configuration.length = configuration.context;
  if (configuration.hidden == 0) {
    // Gated layers have three matrices where plain ones have two: two thirds of four times the width cost the same.
    const std::int64_t hidden =
        configuration.architecture == "gpt2" ? 4 * configuration.width : divide_rounding_up(8 * configuration.width, 3);
    configuration.hidden = divide_rounding_up(hidden, hidden_multiple) * hidden_multiple;
  }
  if (configuration.model.empty()) TRY(check_shape(configuration));
  if (configuration.model.empty() && configuration.lora_rank > 0) {
    return Error::of(ErrorCode::invalid_argument, "lora_rank: expected 0 without a model to begin with, found ",
                     configuration.lora_rank);
  }
  TRY(check_schedule(schedule_of(configuration)));
  return configuration;
}

LearningRateSchedule schedule_of(const TrainingConfiguration& configuration) {
  return {configuration.schedule, configuration.learning_rate, configuration.least_learning_rate, configuration.warmup,
          configuration.steps};
}

std::string text_of(const TrainingConfiguration& configuration) {
  std::string text;
  std::string_view group;
  for (const ConfigurationKey& key : configuration_keys()) {
    if (key.group != group) text += (text.empty() ? "# " : "\n# ") + std::string(key.group) + "\n";
    group = key.group;
    const std::string value = key.write(configuration);
    text += std::string(key.name) + (value.empty() ? " =" : " = ") + value + "\n";
  }
  return text;
}

std::string describe_keys() {
  constexpr std::size_t name_width = 22, default_width = 16;
  const TrainingConfiguration defaults;
  std::string text;
  std::string_view group;
  for (const ConfigurationKey& key : configuration_keys()) {
    if (key.group != group) text += (text.empty() ? "" : "\n") + std::string(key.group) + "\n";
    group = key.group;
    std::string line = "  " + std::string(key.name);
    line.resize(std::max(line.size() + 1, name_width), ' ');
    line += key.write(defaults);
    line.resize(std::max(line.size() + 1, name_width + default_width), ' ');
    text += line + std::string(key.meaning) + " (" + key.expected() + ")\n";
  }
  return text;
}

}  // namespace ingot
