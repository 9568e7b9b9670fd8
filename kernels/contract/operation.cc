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
