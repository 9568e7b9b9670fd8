// The whole vocabulary, as a list of descriptors.
#pragma once

#include <span>

#include "kernels/contract/operation.h"

namespace ingot {

// Every operation of every family, families in the order of docs/architecture.md. The list is built once and is
// constant.
std::span<const Operation* const> all_operations();

// Null where no operation has this name.
const Operation* find_operation(std::string_view name);

}  // namespace ingot
