// SocketSettings: what programs set on a socket of any family (man 7 socket). The family obeys those that mean
// something to it.
#pragma once

#include <cstdint>

#include "base/atomic.h"
#include "base/units.h"

namespace ingot::os {

namespace socket_option {
inline constexpr std::uint32_t level = 1;                                                 // SOL_SOCKET
inline constexpr std::uint32_t reuse_address = 2, type = 3, error = 4, broadcast = 6;     // SO_REUSEADDR, ...
inline constexpr std::uint32_t send_buffer = 7, receive_buffer = 8, keep_alive = 9;       // SO_SNDBUF, ...
inline constexpr std::uint32_t linger = 13, reuse_port = 15, pass_credentials = 16;       // SO_LINGER, ...
inline constexpr std::uint32_t peer_credentials = 17, receive_time = 20, send_time = 21;  // SO_PEERCRED, SO_RCVTIMEO
inline constexpr std::uint32_t accepts = 30, any_send_buffer = 32;                   // SO_ACCEPTCONN, SO_SNDBUFFORCE
inline constexpr std::uint32_t any_receive_buffer = 33, protocol = 38, domain = 39;  // SO_RCVBUFFORCE, SO_PROTOCOL
}  // namespace socket_option

struct SocketSettings {
  static constexpr std::uint32_t usual_buffer = 212'992;  // net.core.wmem_default and rmem_default

  Atomic<std::uint32_t> send_buffer{usual_buffer}, receive_buffer{usual_buffer};
  Atomic<std::uint32_t> switches;               // a bit for each option that is on or off: 1 << its number
  Atomic<std::uint32_t> linger_seconds;         // counts where `linger` is on
  Atomic<Nanoseconds> receive_time, send_time;  // how long a call waits; 0: for ever

  // As a socket that was accepted has its listener's.
  void inherit(const SocketSettings& from) {
    const auto copy = [](auto& to, const auto& value) {
      to.store(value.load(MemoryOrder::relaxed), MemoryOrder::relaxed);
    };
    copy(send_buffer, from.send_buffer), copy(receive_buffer, from.receive_buffer), copy(switches, from.switches);
    copy(linger_seconds, from.linger_seconds);
    copy(receive_time, from.receive_time), copy(send_time, from.send_time);
  }

  bool is_on(std::uint32_t option) const { return (switches.load(MemoryOrder::relaxed) & 1u << option) != 0; }
  void turn(std::uint32_t option, bool on) {
    std::uint32_t before = switches.load(MemoryOrder::relaxed);
    const std::uint32_t bit = 1u << option;
    while (!switches.compare_exchange(before, on ? before | bit : before & ~bit, MemoryOrder::relaxed)) {
    }
  }
};

}  // namespace ingot::os
