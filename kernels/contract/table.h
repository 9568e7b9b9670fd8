// KernelTable: which variants a machine may run, for every operation. A value: selection is a pure function of the
// operations, the machine and the names forced by the user, so imaginary machines can be tested.
//
// The choice rule: the first row whose needs hold on the machine and which accepts the arguments. Never by timing.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "kernels/contract/operation.h"

namespace ingot {

struct ForcedVariant {
  std::string operation;
  std::string variant;
};

enum class Availability : std::uint8_t {
  available,
  not_built,       // this build has no code for it
  lacks_features,  // the machine does not have what it needs
};

class KernelTable {
 public:
  // Fails where a forced operation or variant does not exist, is not built, or needs what the machine lacks.
  static Result<KernelTable> select(std::span<const Operation* const> operations, FeatureSet features,
                                    std::span<const ForcedVariant> forced = {});

  // Indices of the variants that may run, best first; empty for an operation the table does not know.
  std::span<const int> available(std::string_view operation) const;
  // The first available variant that accepts the invocation; -1 where none does.
  int choose(const Operation& operation, const Invocation& invocation) const;

 private:
  std::map<std::string, std::vector<int>, std::less<>> available_;
};

Availability availability(const VariantInformation& variant, FeatureSet features);

}  // namespace ingot
