// The numbers of options that sockets of the Internet share.
#pragma once

#include <cstdint>

#include "os/file/socket/option_bytes.h"

namespace ingot::os::network {

namespace option_level {
inline constexpr std::uint32_t v4 = 0, tcp = 6, udp = 17, v6 = 41;  // SOL_IP, SOL_TCP, SOL_UDP, SOL_IPV6
inline constexpr std::uint32_t v6_only = 26;                        // IPV6_V6ONLY
}  // namespace option_level

// Those that change nothing here: errors of connected sockets are always told (IP_RECVERR), packets are never
// fragmented where that may be (IP_MTU_DISCOVER), ports are chosen when a connection begins (IP_BIND_ADDRESS_NO_PORT).
constexpr bool is_harmless(std::uint32_t level, std::uint32_t option) {
  if (level == option_level::v4) return option == 10 || option == 11 || option == 24;
  return level == option_level::v6 && (option == 23 || option == 25);
}

}  // namespace ingot::os::network
