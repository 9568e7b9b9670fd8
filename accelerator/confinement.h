// Confinement: what a worker may still ask of the operating system, once it has all that it needs.
#pragma once

#include <array>
#include <span>

#include "base/result.h"

namespace ingot {

// Closes all descriptors but these, and puts nothing behind the three standard ones.
Result<void> keep_only(std::span<const int> descriptors);

// From here on all threads of the process may compute, take memory that is not executable, wait, read, receive, and
// ring these bells. Whoever asks for anything else (open, exec, sockets, new threads) ends the process at once.
Result<void> confine(std::array<int, 2> bells);

}  // namespace ingot
