// KernelTable: which variants a machine may run, for every operation. A value: selection is a pure function of the
// operations, the machine and the names forced by the user, so imaginary machines can be tested.
//
// The choice rule: the first row whose needs hold on the machine and which accepts the arguments. Never by timing.
//
// Operations of a model compute a row for each token of a pass. Which variant is best often depends on how many there
// are, and variants sum in different orders: so the last bits of a row depend on its neighbours. Who wants the same
// bits whatever is computed beside them asks for a table in which neighbours never show; it offers fewer variants.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "kernels/contract/operation.h"
#include "machine/gpu/device.h"

namespace ingot {

struct ForcedVariant {
  std::string operation;
  std::string variant;
};

// What variants are chosen for: the host's CPU, or a device.
struct Processor {
  FeatureSet features;
  bool is_device = false;
  bool is_emulated = false;

  constexpr Processor(FeatureSet of_host) : features(of_host) {}
  static constexpr Processor device(FeatureSet of_device, bool emulated) {
    Processor made(of_device);
    made.is_device = true;
    made.is_emulated = emulated;
    return made;
  }
};

// Those that a device takes calls for are chosen as its CPU's.
Processor processor_of(const DeviceInformation& device);

enum class Availability : std::uint8_t {
  available,
  not_built,       // this build has no code for it
  lacks_features,  // the machine does not have what it needs
  elsewhere,       // it runs on a device and the table is the host's, or the other way round
};

enum class Neighbours : std::uint8_t {
  may_show,    // a row's last bits may depend on the rows that are computed with it
  never_show,  // a row has the bits that it has by itself
};

class KernelTable {
 public:
  // Fails where a forced operation or variant does not exist, is not built, or needs what the machine lacks.
  static Result<KernelTable> select(std::span<const Operation* const> operations, const Processor& processor,
                                    std::span<const ForcedVariant> forced = {},
                                    Neighbours neighbours = Neighbours::may_show);

  // Indices of the variants that may run, best first; empty for an operation the table does not know.
  std::span<const int> available(std::string_view operation) const;
  // The first available variant that accepts the invocation, alone where neighbours must never show; -1 where none
  // does. A forced variant is no exception.
  int choose(const Operation& operation, const Invocation& invocation) const;
  Neighbours neighbours() const { return neighbours_; }
  bool is_of_device() const { return is_device_; }

 private:
  Neighbours neighbours_ = Neighbours::may_show;
  bool is_device_ = false;
  std::map<std::string, std::vector<int>, std::less<>> available_;
};

Availability availability(const VariantInformation& variant, const Processor& processor);

}  // namespace ingot
