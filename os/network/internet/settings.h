// The numbers of this layer: how long it waits, and how much strangers can make it keep.
#pragma once

#include <cstddef>
#include <cstdint>

#include "os/network/time.h"

namespace ingot::os::network {

struct InternetSettings {
  // An interface.
  static constexpr std::size_t links = 4;  // beside the loop
  static constexpr std::size_t addresses = 8, routes = 12, name_servers = 4, default_routers = 3;

  // Neighbours (RFC 4861 10, RFC 1122 2.3.2).
  static constexpr std::size_t neighbours = 256, held_packets = 3;
  static constexpr std::uint8_t asks = 3;
  static constexpr Nanoseconds ask_interval = seconds(1), reachable_time = seconds(30);

  // Addresses of ours (RFC 5227, RFC 4862). RFC 5227's probes would take up to seven seconds of every boot: what
  // answers at all does so at once, and a conflict that shows later is found by then.
  static constexpr std::uint8_t v4_probes = 3, v6_probes = 1;
  static constexpr Nanoseconds v4_probe_interval = milliseconds(200), v6_probe_interval = seconds(1);
  static constexpr Nanoseconds announce_interval = seconds(2), defend_interval = seconds(10);

  // Routers (RFC 4861 6.3.7, RFC 4862 5.5.3).
  static constexpr std::uint8_t router_asks = 3;
  static constexpr Nanoseconds router_ask_interval = seconds(4), two_hours = seconds(7200);

  // Paths.
  static constexpr std::size_t paths = 64;
  static constexpr Nanoseconds path_age = seconds(600);
  static constexpr std::uint16_t least_v4_path = 552, least_v6_path = 1280;

  // Fragments.
  static constexpr std::size_t incomplete_packets = 64;
  static constexpr std::uint64_t fragment_bytes = 256 << 10;  // with what holds them
  static constexpr Nanoseconds reassembly_time = seconds(30);
  static constexpr std::size_t extension_headers = 8;

  // Answers that strangers can ask for, in a second, and at once.
  static constexpr std::uint32_t echoes_per_second = 1000, errors_per_second = 100;

  // The loop.
  static constexpr std::size_t looped_packets = 256;   // that wait
  static constexpr std::size_t looped_at_once = 1024;  // in one call

  // DHCP (RFC 2131 4.1; its first wait is 4 seconds, from the days of slow links).
  static constexpr Nanoseconds dhcp_first_wait = seconds(1), dhcp_longest_wait = seconds(64);
  static constexpr Nanoseconds dhcp_least_renewal = seconds(60), dhcp_decline_wait = seconds(10);
  static constexpr std::uint8_t dhcp_requests = 4;
  static constexpr std::uint16_t dhcp_least_mtu = 576;
};

}  // namespace ingot::os::network
