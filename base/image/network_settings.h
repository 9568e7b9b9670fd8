// How a machine gets its addresses, as `network` lines of a manifest say it: at most one for each version of IP.
//
//   network dhcp                                  IPv4, asked of a DHCP server
//   network slaac                                 IPv6, made of what a router announces
//   network 192.0.2.10/24,192.0.2.1,192.0.2.53    fixed: address and prefix, gateway, up to three servers of names
//   network 2001:db8::10/64,fe80::1
//
// `ingot cast` checks the lines, `ingot boot` makes a network of them, and a kernel that grants `network` reads them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/image/image_manifest.h"
#include "base/result.h"

namespace ingot {

// In the order of the wire. None: all zeros, of no version.
struct InternetAddress {
  static constexpr std::size_t bytes_of_version_4 = 4, bytes_of_version_6 = 16;

  std::array<std::uint8_t, bytes_of_version_6> bytes{};
  std::uint8_t count = 0;  // of bytes that mean something: 4 or 16

  bool is_version_4() const { return count == bytes_of_version_4; }
  bool is_version_6() const { return count == bytes_of_version_6; }
  bool operator==(const InternetAddress&) const = default;
};

// "192.0.2.1" without leading zeros, or "2001:db8::1" as RFC 4291 spells it, without an IPv4 address at its end and
// without a zone. Nothing where the text is neither.
std::optional<InternetAddress> parse_internet_address(std::string_view text);

// fe80::/10: of version 6, and of each link for itself.
bool is_of_this_link(const InternetAddress& address);

struct AddressSettings {
  static constexpr std::size_t most_name_servers = 3;  // as many as resolvers read

  enum class Source : std::uint8_t { none, automatic, fixed };
  Source source = Source::none;
  // Of a fixed one.
  std::uint8_t prefix = 0;  // bits of the address that name its network
  std::uint8_t name_server_count = 0;
  InternetAddress address, gateway;
  std::array<InternetAddress, most_name_servers> name_servers;

  std::span<const InternetAddress> servers() const { return std::span(name_servers).first(name_server_count); }
};

struct NetworkSettings {
  AddressSettings version_4, version_6;

  // Adds what one line says. Fails where it says nothing that holds together, or names a version for the second time.
  Result<void> add(std::string_view line);
};

// All lines of a manifest, which have no meaning without the grant. Errors name the line.
Result<NetworkSettings> network_settings_of(const Manifest& manifest);

}  // namespace ingot
