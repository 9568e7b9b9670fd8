#include "cli/version.h"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/version.h"
#include "kernels/all_operations.h"
#include "machine/feature_names.h"
#include "model/template/template.h"

// Written by commit_name.cmake when the program is built; a tool that only reads the sources has none.
#if __has_include("commit_name.h")
#include "commit_name.h"
#endif
#ifndef INGOT_COMMIT
#define INGOT_COMMIT ""
#endif

namespace ingot {
namespace {

constexpr std::string_view commit = INGOT_COMMIT;
#if defined(__clang__)
constexpr const char* compiler = "clang " __clang_version__;
#else
constexpr const char* compiler = "g++ " __VERSION__;
#endif

// The instruction sets of CPUs that some variant was compiled for, whether this machine has them or not.
std::vector<std::string> built_features() {
  FeatureSet features;
  for (const Operation* operation : all_operations()) {
    for (const VariantInformation& variant : operation->variants) {
      if (!variant.built || variant.is_of_device) continue;
      for (int index = 0; index < feature_count; ++index) {
        const auto feature = static_cast<Feature>(index);
        if (variant.needs.contains(feature)) features.insert(feature);
      }
    }
  }
  return feature_names(features);
}

std::vector<std::string> architecture_names() {
  std::vector<std::string> names;
  for (const ModelArchitecture* architecture : all_architectures()) names.emplace_back(architecture->name);
  return names;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

}  // namespace

std::string version_name() {
  std::string name = version;
  name.append(" (")
      .append(commit.empty() ? std::string_view("commit not known") : std::string_view(commit))
      .append(")");
  return name;
}

void print_version(bool json) {
  const std::string processor(name_of(built_architecture));
  if (json) {
    nlohmann::json document = {{"version", version},
                               {"commit", nullptr},
                               {"compiler", compiler},
                               {"architecture", processor},
                               {"vector_targets", built_features()},
                               {"model_architectures", architecture_names()}};
    if (!commit.empty()) document["commit"] = commit;
    std::printf("%s\n", document.dump(1).c_str());
    return;
  }
  std::printf("ingot %s\n", version_name().c_str());
  std::printf("  compiler  %s, for %s\n", compiler, processor.c_str());
  std::printf("  vectors   %s\n", joined(built_features()).c_str());
  std::printf("  models    %s\n", joined(architecture_names()).c_str());
}

}  // namespace ingot
