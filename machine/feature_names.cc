#include "machine/feature_names.h"

namespace ingot {

std::vector<std::string> feature_names(FeatureSet features) {
  std::vector<std::string> names;
  for (int index = 0; index < feature_count; ++index) {
    const auto feature = static_cast<Feature>(index);
    if (features.contains(feature)) names.emplace_back(name_of(feature));
  }
  return names;
}

}  // namespace ingot
