// The machine as JSON and as text, for every command that names it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "machine/machine.h"
#include "machine/peaks.h"

namespace ingot {

std::vector<std::string> feature_names(FeatureSet features);
std::string_view name_of(CacheKind kind);

nlohmann::json json_of(const Peaks& peaks);
nlohmann::json json_of(const Machine& machine);

}  // namespace ingot
