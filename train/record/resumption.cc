#include "train/record/resumption.h"

#include <algorithm>
#include <array>

#include "model/files/quoted.h"
#include "train/record/configuration_keys.h"

namespace ingot {
namespace {

bool may_differ(const ConfigurationKey& key, const TrainingConfiguration& configuration) {
  constexpr std::array<std::string_view, 4> without_effect = {"threads", "recompute", "data", "tokenizer"};
  if (key.name == "steps") return configuration.schedule == ScheduleKind::constant;
  return key.group == "records" ||
         std::find(without_effect.begin(), without_effect.end(), key.name) != without_effect.end();
}

}  // namespace

Result<void> require_same_run(std::string_view begun, const TrainingConfiguration& configuration) {
  TrainingConfiguration before;
  const Result<void> read = apply_configuration(before, begun);
  if (!read.ok()) return read.error().within("configuration");
  for (const ConfigurationKey& key : configuration_keys()) {
    const std::string expected = key.write(before);
    const std::string found = key.write(configuration);
    if (expected == found || may_differ(key, configuration)) continue;
    return Error::of(ErrorCode::invalid_argument, key.name, ": expected ", Quoted{expected},
                     ", with which the run began, found ", Quoted{found},
                     ": go on with the old value, or begin another run with another checkpoint");
  }
  return {};
}

}  // namespace ingot
