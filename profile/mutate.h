// mutate: hands every operation wrong arguments. Each must be refused with an error that names the violated constraint,
// or be harmless: what check() lets through is run, and must not crash (sanitizers watch).
#pragma once

#include <string>
#include <vector>

#include "kernels/contract/operation.h"

namespace ingot {

struct MutationReport {
  int mutations = 0;
  int refused = 0;
  int harmless = 0;                   // accepted, and run without harm
  std::vector<std::string> failures;  // accepted though it must be refused, or refused without naming a constraint
};

MutationReport mutate_arguments(const Operation& operation, FeatureSet features, std::uint64_t seed, Workers& workers);

}  // namespace ingot
