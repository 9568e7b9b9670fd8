// WirePacket: an IP packet as bytes and as its fields, and as packetdrill writes it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "os/network/address.h"
#include "tests/network/script.h"

namespace ingot::network_scripts {

using Bytes = std::vector<std::uint8_t>;
using os::network::Endpoint;
using os::network::IpAddress;

struct WirePacket {
  Endpoint from, to;
  std::uint8_t service = 0;
  std::uint8_t hop_limit = 255;
  ScriptProtocol protocol = ScriptProtocol::tcp;
  Bytes payload;  // of ICMP all behind its first eight bytes

  std::uint16_t flags = 0;
  std::uint32_t sequence = 0, acknowledged = 0;
  std::uint16_t window = 0, urgent = 0;
  std::vector<TcpOption> options;

  std::uint8_t icmp_type = 0, icmp_code = 0;
  std::uint32_t icmp_rest = 0;

  bool has(std::uint16_t flag) const { return (flags & flag) != 0; }
};

// How many bytes they take, without what fills the last word.
std::size_t wire_bytes(const std::vector<TcpOption>& options);

// With correct lengths and checksums. Options that do not fill words are followed by ends of the list.
Bytes to_bytes(const WirePacket& packet);
// An error where a length, a version or a checksum is wrong.
Result<WirePacket> from_bytes(std::span<const std::uint8_t> bytes);

// S. 0:0(0) ack 1 win 65535 <mss 1460,sackOK,eol,eol>
std::string as_script(const WirePacket& packet);
std::string as_script(const std::vector<TcpOption>& options);

}  // namespace ingot::network_scripts
