// Features by their names, for whoever lists them.
#pragma once

#include <string>
#include <vector>

#include "machine/features.h"

namespace ingot {

std::vector<std::string> feature_names(FeatureSet features);

}  // namespace ingot
