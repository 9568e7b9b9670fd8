// How many descriptors this process may have open, raised as far as the system allows.
#pragma once

#include <cstdint>

namespace ingot::http {

// Returns what holds afterwards: `wanted`, or less where the system forbids it.
std::int64_t raise_file_limit(std::int64_t wanted);

}  // namespace ingot::http
