#pragma once

#include <span>

#include "kernels/contract/operation.h"

namespace ingot {
std::span<const Operation* const> norm_operations();
}  // namespace ingot
