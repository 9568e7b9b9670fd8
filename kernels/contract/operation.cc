#include "kernels/contract/operation.h"

namespace ingot {

std::string_view name_of(Role role) {
  switch (role) {
    case Role::input: return "input";
    case Role::weight: return "weight";
    case Role::output: return "output";
    case Role::state: return "state";
    case Role::saved: return "saved";
    case Role::attribute: return "attribute";
  }
  return "unknown";
}

int Operation::field_index(std::string_view field) const {
  for (std::size_t index = 0; index < fields.size(); ++index) {
    if (fields[index].name == field) return static_cast<int>(index);
  }
  return -1;
}

int Operation::variant_index(std::string_view variant) const {
  for (std::size_t index = 0; index < variants.size(); ++index) {
    if (variants[index].name == variant) return static_cast<int>(index);
  }
  return -1;
}

Operation make_operation(OperationParts parts) {
  Operation made;
  made.name = parts.name;
  made.equation = parts.equation;
  made.fields.assign(parts.fields.begin(), parts.fields.end());
  made.variants = std::move(parts.variants);
  made.in_place.assign(parts.in_place.begin(), parts.in_place.end());
  for (std::string_view backward : parts.backward.operations) {
    if (!backward.empty()) made.backward.push_back(backward);
  }
  made.no_backward = parts.backward.reason;
  made.cases = parts.cases.cases();
  made.excluded_regimes = parts.cases.excluded();
  made.empty = parts.empty;
  made.build = parts.build;
  return made;
}

VariantInformation variant_information(std::string_view name, FeatureSet needs, bool is_built,
                                       const DeviceFunction* device_function) {
  if (device_function == nullptr) return {name, needs, is_built};
  return {name, needs, device_function->has_binary(), true, device_function->is_emulated()};
}

Error error_of_field(const Error& error, std::string_view operation, std::string_view field) {
  return error.within(operation, " field ", field);
}

std::string shapes_text(const Operation& operation, const Invocation& invocation) {
  std::string read;
  std::string written;
  for (std::size_t index = 0; index < operation.fields.size(); ++index) {
    const FieldInformation& field = operation.fields[index];
    if (!field.is_tensor) continue;
    const ConstAnyView view = invocation.tensor(static_cast<int>(index));
    if (!is_present(view)) continue;
    std::string& list = is_written(field.role) ? written : read;
    if (!list.empty()) list += ", ";
    list += text_of(field.name, " ", view.shape(), " ", view.dtype()).view();
  }
  return read + " -> " + written;
}

}  // namespace ingot
