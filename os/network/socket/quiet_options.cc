// Options that programs set and ask for though they change nothing here. What is told is what Linux says of a socket on
// which nobody has set them.
#include <algorithm>

#include "os/file/socket/socket_settings.h"
#include "os/network/socket/option_values.h"

namespace ingot::os::network {

namespace {

struct QuietOption {
  std::uint32_t level, option;
  std::int32_t told;
};

constexpr std::uint32_t of_socket = socket_option::level;
constexpr QuietOption quiet_options[] = {
    {of_socket, 10, 0},          // SO_OOBINLINE: urgent data is inline always
    {of_socket, 12, 0},          // SO_PRIORITY: there is no queue in front of a card
    {of_socket, 36, 0},          // SO_MARK: no rule asks for it
    {of_socket, 46, 0},          // SO_BUSY_POLL
    {of_socket, 49, -1},         // SO_INCOMING_CPU: not known
    {option_level::v4, 10, 1},   // IP_MTU_DISCOVER: packets are never fragmented where that may be
    {option_level::v4, 11, 0},   // IP_RECVERR: errors of connected sockets are told always
    {option_level::v4, 24, 0},   // IP_BIND_ADDRESS_NO_PORT: ports are chosen when a connection begins
    {option_level::v6, 23, 1},   // IPV6_MTU_DISCOVER, as above
    {option_level::v6, 25, 0},   // IPV6_RECVERR, as above
    {option_level::tcp, 9, 0},   // TCP_DEFER_ACCEPT: whoever accepts early finds nothing to read yet
    {option_level::tcp, 23, 0},  // TCP_FASTOPEN: peers without a cookie connect as ever
    {option_level::tcp, 30, 0},  // TCP_FASTOPEN_CONNECT: as towards a server that gave us none
};

const QuietOption* find_quiet(std::uint32_t level, std::uint32_t option) {
  const auto* const found =
      std::find_if(std::begin(quiet_options), std::end(quiet_options),
                   [&](const QuietOption& it) { return it.level == level && it.option == option; });
  return found == std::end(quiet_options) ? nullptr : found;
}

}  // namespace

Answer<std::size_t> tell_quiet_option(std::uint32_t level, std::uint32_t option, std::span<std::byte> to) {
  const QuietOption* const found = find_quiet(level, option);
  return found != nullptr ? tell(to, found->told) : Errno::enoprotoopt;
}

Answer<void> set_quiet_option(std::uint32_t level, std::uint32_t option) {
  const QuietOption* const found = find_quiet(level, option);
  return found != nullptr ? Answer<void>() : Errno::enoprotoopt;
}

}  // namespace ingot::os::network
