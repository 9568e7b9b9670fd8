#include "kernels/contract/table.h"

#include <algorithm>

namespace ingot {
namespace {

std::string missing_features_text(FeatureSet needs, FeatureSet features) {
  std::string text;
  for (int index = 0; index < feature_count; ++index) {
    const auto feature = static_cast<Feature>(index);
    if (!needs.without(features).contains(feature)) continue;
    text += (text.empty() ? "" : ", ") + std::string(name_of(feature));
  }
  return text;
}

Result<int> forced_index(const Operation& operation, const std::string& name, const Processor& processor) {
  const int index = operation.variant_index(name);
  if (index < 0) {
    std::string known;
    for (const VariantInformation& variant : operation.variants) {
      known += (known.empty() ? "" : ", ") + std::string(variant.name);
    }
    return Error::of(ErrorCode::not_found, operation.name, ": expected a variant among ", known, ", found '", name,
                     "'");
  }
  const VariantInformation& variant = operation.variants[static_cast<std::size_t>(index)];
  switch (availability(variant, processor)) {
    case Availability::not_built:
      return Error::of(ErrorCode::unsupported, operation.name, ": variant '", name, "' is not built ",
                       variant.is_of_device ? "into this program (make gpu)" : "for this architecture");
    case Availability::elsewhere:
      return Error::of(ErrorCode::unsupported, operation.name, ": variant '", name, "' runs on ",
                       variant.is_of_device ? "a device (--device cuda)" : "the CPU (without --device)");
    case Availability::lacks_features:
      return Error::of(ErrorCode::unsupported, operation.name, ": variant '", name, "' needs ",
                       missing_features_text(variant.needs, processor.features), ", which this ",
                       processor.is_device ? "device" : "machine", " lacks");
    default: return index;
  }
}

}  // namespace

Processor processor_of(const DeviceInformation& device) {
  return device.takes_calls ? Processor(device.features) : Processor::device(device.features, device.is_emulated);
}

Availability availability(const VariantInformation& variant, const Processor& processor) {
  if (variant.is_of_device != processor.is_device) return Availability::elsewhere;
  const bool lacks = !processor.features.contains_all(variant.needs);
  // What a device lacks tells more than that the program does not carry code for it, too.
  if (processor.is_device && lacks) return Availability::lacks_features;
  if (!(processor.is_emulated ? variant.is_emulated : variant.built)) return Availability::not_built;
  if (lacks) return Availability::lacks_features;
  return Availability::available;
}

Result<KernelTable> KernelTable::select(std::span<const Operation* const> operations, const Processor& processor,
                                        std::span<const ForcedVariant> forced, Neighbours neighbours) {
  KernelTable table;
  table.neighbours_ = neighbours;
  table.is_device_ = processor.is_device;
  for (const Operation* operation : operations) {
    std::vector<int> usable;
    for (std::size_t index = 0; index < operation->variants.size(); ++index) {
      if (availability(operation->variants[index], processor) == Availability::available) {
        usable.push_back(static_cast<int>(index));
      }
    }
    table.available_.emplace(operation->name, std::move(usable));
  }
  for (const ForcedVariant& force : forced) {
    const auto found = std::find_if(operations.begin(), operations.end(),
                                    [&](const Operation* operation) { return operation->name == force.operation; });
    if (found == operations.end()) {
      return Error::of(ErrorCode::not_found, "expected the name of an operation, found '", force.operation,
                       "' (see: ingot kernels)");
    }
    const int index = TRY(forced_index(**found, force.variant, processor));
    table.available_[force.operation] = {index};
  }
  return table;
}

std::span<const int> KernelTable::available(std::string_view operation) const {
  const auto found = available_.find(operation);
  if (found == available_.end()) return {};
  return found->second;
}

int KernelTable::choose(const Operation& operation, const Invocation& invocation) const {
  for (int index : available(operation.name)) {
    const bool takes =
        neighbours_ == Neighbours::may_show ? invocation.accepts(index) : invocation.accepts_alone(index);
    if (takes) return index;
  }
  return -1;
}

}  // namespace ingot
