#pragma once

#include <span>

#include "kernels/contract/operation.h"

namespace ingot {
std::span<const Operation* const> layout_operations();
}  // namespace ingot
