#include "tests/network/icmp.h"

#include <array>
#include <charconv>

namespace ingot::network_scripts {
namespace {

struct IcmpName {
  std::string_view type, code;
  std::uint8_t type_number, code_number;
};

constexpr std::array<IcmpName, 22> names_v4 = {{
    {"unreachable", "net_unreachable", 3, 0},
    {"unreachable", "host_unreachable", 3, 1},
    {"unreachable", "protocol_unreachable", 3, 2},
    {"unreachable", "port_unreachable", 3, 3},
    {"unreachable", "frag_needed", 3, 4},
    {"unreachable", "source_route_failed", 3, 5},
    {"unreachable", "net_unknown", 3, 6},
    {"unreachable", "host_unknown", 3, 7},
    {"unreachable", "source_host_isolated", 3, 8},
    {"unreachable", "net_prohibited", 3, 9},
    {"unreachable", "host_prohibited", 3, 10},
    {"unreachable", "net_unreachable_for_tos", 3, 11},
    {"unreachable", "host_unreachable_for_tos", 3, 12},
    {"unreachable", "packet_filtered", 3, 13},
    {"unreachable", "precedence_violation", 3, 14},
    {"unreachable", "precedence_cutoff", 3, 15},
    {"source_quench", "", 4, 0},
    {"redirect", "", 5, 0},
    {"time_exceeded", "", 11, 0},
    {"time_exceeded", "ttl_exceeded_in_transit", 11, 0},
    {"time_exceeded", "frag_reass_exceeded", 11, 1},
    {"parameter_problem", "", 12, 0},
}};

constexpr std::array<IcmpName, 12> names_v6 = {{
    {"unreachable", "no_route", 1, 0},
    {"unreachable", "net_unreachable", 1, 0},
    {"unreachable", "admin_prohibited", 1, 1},
    {"unreachable", "not_neighbour", 1, 2},
    {"unreachable", "address_unreachable", 1, 3},
    {"unreachable", "port_unreachable", 1, 4},
    {"packet_too_big", "", 2, 0},
    {"time_exceeded", "exceeded_hop_limit", 3, 0},
    {"time_exceeded", "exceeded_frag_time", 3, 1},
    {"parameter_problem", "header_field", 4, 0},
    {"parameter_problem", "unknown_next_header", 4, 1},
    {"parameter_problem", "unknown_option", 4, 2},
}};

// type_3, code_13
bool reads_number(std::string_view text, std::string_view prefix, std::uint8_t& number) {
  if (!text.starts_with(prefix)) return false;
  const char* const end = text.data() + text.size();
  const auto [behind, error] = std::from_chars(text.data() + prefix.size(), end, number);
  return error == std::errc() && behind == end;
}

bool fits(const IcmpName& name, const PacketLine& line, WirePacket& message) {
  if (name.type != line.icmp_type) return false;
  message.icmp_type = name.type_number;
  if (reads_number(line.icmp_code, "code_", message.icmp_code)) return true;
  message.icmp_code = name.code_number;
  return name.code == line.icmp_code;
}

}  // namespace

Result<WirePacket> icmp_message(const PacketLine& line, const WirePacket& echoed) {
  WirePacket message;
  message.from = echoed.to;
  message.to = echoed.from;
  message.protocol = ScriptProtocol::icmp;
  message.hop_limit = line.hop_limit.value_or(255);
  message.service = line.service.value;
  message.icmp_rest = line.icmp_mtu.value_or(0);
  message.payload = to_bytes(echoed);
  const std::span<const IcmpName> names =
      message.from.address.is_v4() ? std::span<const IcmpName>(names_v4) : std::span<const IcmpName>(names_v6);
  for (const IcmpName& name : names) {
    if (fits(name, line, message)) return message;
  }
  return Error::of(ErrorCode::unsupported, "icmp ", line.icmp_type, " ", line.icmp_code);
}

}  // namespace ingot::network_scripts
