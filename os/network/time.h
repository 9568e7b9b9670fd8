// Spans of time as people write them.
#pragma once

#include <cstdint>

#include "base/units.h"

namespace ingot::os::network {

constexpr Nanoseconds milliseconds(std::int64_t count) { return Nanoseconds(count * 1'000'000); }
constexpr Nanoseconds seconds(std::int64_t count) { return milliseconds(count * 1000); }

}  // namespace ingot::os::network
