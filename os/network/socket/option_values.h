// The numbers of options that sockets of the Internet share.
#pragma once

#include <cstdint>

#include "os/file/socket/option_bytes.h"

namespace ingot::os::network {

namespace option_level {
inline constexpr std::uint32_t v4 = 0, tcp = 6, udp = 17, v6 = 41;  // SOL_IP, SOL_TCP, SOL_UDP, SOL_IPV6
inline constexpr std::uint32_t v6_only = 26;                        // IPV6_V6ONLY
}  // namespace option_level

// Those that change nothing here, whatever they are set to. ENOPROTOOPT: it is none of them.
Answer<std::size_t> tell_quiet_option(std::uint32_t level, std::uint32_t option, std::span<std::byte> to);
Answer<void> set_quiet_option(std::uint32_t level, std::uint32_t option);

// Those of IP also come as a byte.
inline Answer<std::int32_t> number_in(std::uint32_t level, std::span<const std::byte> value) {
  if (level == option_level::v4 && value.size() == 1) return std::to_integer<std::int32_t>(value[0]);
  return value_in<std::int32_t>(value);
}

}  // namespace ingot::os::network
