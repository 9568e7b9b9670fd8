// The one table of configuration keys: reading, writing and the help are written over it.
#pragma once

#include "train/record/configuration.h"

namespace ingot {

struct ConfigurationKey {
  std::string_view name;
  std::string_view group;
  std::string_view meaning;
  std::string (*expected)();
  bool (*read)(std::string_view value, TrainingConfiguration& configuration);  // false: not what is expected
  std::string (*write)(const TrainingConfiguration& configuration);
};

// Keys of a group stand together.
std::span<const ConfigurationKey> configuration_keys();

}  // namespace ingot
