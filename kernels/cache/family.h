#pragma once

#include <span>

#include "kernels/contract/operation.h"

namespace ingot {
std::span<const Operation* const> cache_operations();
}  // namespace ingot
