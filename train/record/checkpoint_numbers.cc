#include "train/record/checkpoint_numbers.h"

#include <algorithm>
#include <vector>

#include "model/files/quoted.h"
#include "train/record/checksum.h"
#include "train/record/number_text.h"

namespace ingot {

namespace {

constexpr std::string_view format_key = "format", format_name = "ingot-checkpoint-2";
constexpr std::string_view seal_key = "checksum";
constexpr std::string_view schedule_key = "schedule.kind", best_loss_key = "best_validation_loss";
constexpr std::string_view tokenizer_key = "tokenizer_hash", data_key = "data_hash",
                           configuration_key = "configuration";
constexpr std::string_view random_prefix = "random/";

struct IntegerField {
  std::string_view key;
  std::int64_t& (*of)(Checkpoint&);
};

struct NumberField {
  std::string_view key;
  double& (*of)(Checkpoint&);
};

constexpr IntegerField integer_fields[] = {
    {"step", [](Checkpoint& checkpoint) -> std::int64_t& { return checkpoint.step; }},
    {"tokens", [](Checkpoint& checkpoint) -> std::int64_t& { return checkpoint.tokens; }},
    {"epoch", [](Checkpoint& checkpoint) -> std::int64_t& { return checkpoint.epoch; }},
    {"index", [](Checkpoint& checkpoint) -> std::int64_t& { return checkpoint.index; }},
    {"schedule.warmup", [](Checkpoint& checkpoint) -> std::int64_t& { return checkpoint.schedule.warmup; }},
    {"schedule.steps", [](Checkpoint& checkpoint) -> std::int64_t& { return checkpoint.schedule.steps; }},
};

constexpr NumberField number_fields[] = {
    {"schedule.peak", [](Checkpoint& checkpoint) -> double& { return checkpoint.schedule.peak; }},
    {"schedule.least", [](Checkpoint& checkpoint) -> double& { return checkpoint.schedule.least; }},
    {"learning_rate", [](Checkpoint& checkpoint) -> double& { return checkpoint.learning_rate; }},
};

Error wrong_value(std::string_view key, std::string_view expected, std::string_view found) {
  return Error::of(ErrorCode::corrupt, key, ": expected ", expected, ", found ", Quoted{found});
}

Result<void> set_finite(Metadata& metadata, std::string_view key, double value) {
  if (!std::isfinite(value)) {
    return Error::of(ErrorCode::invalid_argument, key, ": expected a finite number, found ", exact_text(value));
  }
  metadata.set_text(key, exact_text(value));
  return {};
}

Result<double> finite_number(const Metadata& metadata, std::string_view key) {
  const std::string_view text = TRY(metadata.text(key));
  const std::optional<double> number = number_from(text);
  if (!number) return wrong_value(key, "a finite number", text);
  return *number;
}

Result<std::uint64_t> hexadecimal_number(const Metadata& metadata, std::string_view key) {
  const std::string_view text = TRY(metadata.text(key));
  const std::optional<std::uint64_t> number = integer_from<std::uint64_t>(text, 16);
  if (!number) return wrong_value(key, "a hexadecimal number of 64 bits", text);
  return *number;
}

std::string seal_of(const Metadata& metadata) {
  std::vector<const Metadata::Entry*> entries;
  for (const Metadata::Entry& entry : metadata.entries()) {
    if (entry.key != seal_key) entries.push_back(&entry);
  }
  std::ranges::sort(entries, {}, [](const Metadata::Entry* entry) { return entry->key; });
  std::string all;
  for (const Metadata::Entry* entry : entries) {
    all += std::to_string(entry->key.size()) + " " + std::to_string(entry->value.text().size()) + " ";
    all += entry->key;
    all += entry->value.text();
  }
  return hexadecimal_text(checksum_of(std::as_bytes(std::span(all))));
}

}  // namespace

Result<Metadata> metadata_of(const Checkpoint& checkpoint) {
  Metadata metadata;
  Checkpoint copy = checkpoint;  // the fields' accessors serve reading, too
  metadata.set_text(format_key, format_name);
  for (const IntegerField& field : integer_fields) metadata.set_text(field.key, std::to_string(field.of(copy)));
  for (const NumberField& field : number_fields) TRY(set_finite(metadata, field.key, field.of(copy)));
  metadata.set_text(schedule_key, schedule_kind_names[static_cast<std::size_t>(checkpoint.schedule.kind)]);
  if (checkpoint.best_validation_loss) TRY(set_finite(metadata, best_loss_key, *checkpoint.best_validation_loss));
  metadata.set_text(tokenizer_key, hexadecimal_text(checkpoint.tokenizer_hash));
  metadata.set_text(data_key, hexadecimal_text(checkpoint.data_hash));
  for (const auto& [name, state] : checkpoint.random_states) {
    metadata.set_text(std::string(random_prefix) + name, hexadecimal_text(state));
  }
  metadata.set_text(configuration_key, checkpoint.configuration);
  return metadata;
}

Result<Checkpoint> checkpoint_of(const Metadata& metadata) {
  Checkpoint checkpoint;
  const std::string_view format = TRY(metadata.text_or(format_key, ""));
  if (format != format_name) return wrong_value(format_key, format_name, format);
  for (const IntegerField& field : integer_fields) {
    const std::string_view text = TRY(metadata.text(field.key));
    const std::optional<std::int64_t> number = integer_from<std::int64_t>(text);
    if (!number || *number < 0) return wrong_value(field.key, "an integer of at least 0", text);
    field.of(checkpoint) = *number;
  }
  for (const NumberField& field : number_fields) field.of(checkpoint) = TRY(finite_number(metadata, field.key));
  const std::string_view kind = TRY(metadata.text(schedule_key));
  const auto name = std::ranges::find(schedule_kind_names, kind);
  if (name == schedule_kind_names.end()) return wrong_value(schedule_key, "cosine, linear or constant", kind);
  checkpoint.schedule.kind = static_cast<ScheduleKind>(name - schedule_kind_names.begin());
  if (metadata.has(best_loss_key)) checkpoint.best_validation_loss = TRY(finite_number(metadata, best_loss_key));
  checkpoint.tokenizer_hash = TRY(hexadecimal_number(metadata, tokenizer_key));
  checkpoint.data_hash = TRY(hexadecimal_number(metadata, data_key));
  for (const Metadata::Entry& entry : metadata.entries()) {
    if (!entry.key.starts_with(random_prefix)) continue;
    const std::string owner(entry.key.substr(random_prefix.size()));
    checkpoint.random_states[owner] = TRY(hexadecimal_number(metadata, entry.key));
  }
  checkpoint.configuration = TRY(metadata.text(configuration_key));
  return checkpoint;
}

void seal_metadata(Metadata& metadata) { metadata.set_text(seal_key, seal_of(metadata)); }

Result<void> check_seal(const Metadata& metadata) {
  const std::string_view stored = TRY(metadata.text(seal_key));
  const std::string computed = seal_of(metadata);
  if (stored != computed) {
    return Error::of(ErrorCode::corrupt, "metadata: expected its checksum to be ", Quoted{stored}, ", found ",
                     Quoted{computed});
  }
  return {};
}

}  // namespace ingot
