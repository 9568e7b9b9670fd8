// Configurations to begin with, by name.
#pragma once

#include "train/record/configuration.h"

namespace ingot {

struct Preset {
  std::string_view name;
  std::string_view meaning;
  std::string_view text;  // what apply_configuration takes
};

std::span<const Preset> presets();

// The defaults with the preset's text over them. An unknown name is an error with the nearest known one.
Result<TrainingConfiguration> preset_configuration(std::string_view name);

}  // namespace ingot
