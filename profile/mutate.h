// mutate: hands every operation wrong arguments. Each must be refused with an error that names the violated constraint,
// or be harmless: what check() lets through is run between guards, and must touch nothing else (sanitizers watch, too).
#pragma once

#include <string>
#include <vector>

#include "kernels/contract/table.h"
#include "machine/gpu/device.h"

namespace ingot {

struct MutationReport {
  int mutations = 0;
  int refused = 0;
  int harmless = 0;  // accepted, and run without harm
  // Accepted though it must be refused, refused without naming a constraint, or accepted and not harmless.
  std::vector<std::string> failures;
};

MutationReport mutate_arguments(const Operation& operation, FeatureSet features, std::uint64_t seed, Workers& workers);
// The same with rows of the device alone.
Result<MutationReport> mutate_arguments(const Operation& operation, Device& device, std::uint64_t seed,
                                        Workers& workers);

}  // namespace ingot
