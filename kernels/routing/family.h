#pragma once

#include <span>

#include "kernels/contract/operation.h"

namespace ingot {
std::span<const Operation* const> routing_operations();
}  // namespace ingot
