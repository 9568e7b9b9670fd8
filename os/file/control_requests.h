// The ioctl requests that more than one kind of file answers; a terminal's own are its own.
#pragma once

#include <cstdint>

namespace ingot::os::control_request {

inline constexpr std::uint32_t bytes_waiting = 0x541b;     // FIONREAD: an int
inline constexpr std::uint32_t non_blocking = 0x5421;      // FIONBIO: an int, 0 or not
inline constexpr std::uint32_t close_on_execute = 0x5451;  // FIOCLEX
inline constexpr std::uint32_t keep_on_execute = 0x5450;   // FIONCLEX

}  // namespace ingot::os::control_request
