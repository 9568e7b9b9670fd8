#include "tests/network/comparison.h"

#include <algorithm>
#include <array>

namespace ingot::network_scripts {
namespace {

std::string field_difference(std::string_view field, std::uint64_t expected, std::uint64_t actual) {
  if (expected == actual) return "";
  return "field " + std::string(field) + ": expected " + std::to_string(expected) + ", actual " +
         std::to_string(actual);
}

std::string flag_difference(const WirePacket& packet, const PacketLine& line) {
  constexpr std::array<std::string_view, 9> names = {"fin", "syn", "rst", "psh", "ack", "urg", "ece", "cwr", "ae"};
  for (std::size_t bit = 0; bit < names.size(); ++bit) {
    const auto flag = static_cast<std::uint16_t>(1u << bit);
    const std::string found =
        field_difference("tcp_" + std::string(names[bit]), (line.flags & flag) != 0, packet.has(flag));
    if (!found.empty()) return found;
  }
  return "";
}

std::string service_difference(const WirePacket& packet, const PacketLine& line) {
  const std::uint8_t bits = packet.service & ServiceCheck::congestion_bits;
  if (line.service.any_capable) return bits == 1 || bits == 2 ? "" : field_difference("ip_ecn", 2, bits);
  return field_difference("ip_tos", line.service.value & line.service.mask, packet.service & line.service.mask);
}

// Values of timestamps are nobody's business but the stack's.
TcpOption comparable(TcpOption option) {
  if (option.kind == TcpOption::timestamps) option.numbers.clear();
  option.any_value = option.absolute_echo = false;
  return option;
}

std::vector<TcpOption> comparable(const std::vector<TcpOption>& options, const ComparisonRules& rules) {
  std::vector<TcpOption> found;
  for (const TcpOption& option : options) {
    if (rules.option_order_matters || option.kind > TcpOption::no_operation) found.push_back(comparable(option));
  }
  if (!rules.option_order_matters) std::ranges::stable_sort(found, {}, &TcpOption::kind);
  return found;
}

std::string option_difference(const WirePacket& packet, const PacketLine& line, const ComparisonRules& rules) {
  if (line.any_options || comparable(packet.options, rules) == comparable(line.options, rules)) return "";
  return "TCP options: expected" + (line.options.empty() ? " none" : as_script(line.options)) + ", actual" +
         (packet.options.empty() ? " none" : as_script(packet.options));
}

}  // namespace

std::string difference(const WirePacket& packet, const PacketLine& line, const ComparisonRules& rules) {
  const bool has_content = std::ranges::any_of(packet.payload, [](std::uint8_t byte) { return byte != 0; });
  const std::array<std::string, 9> found = {
      flag_difference(packet, line),
      field_difference("payload", line.payload, packet.payload.size()),
      line.any_sequence ? "" : field_difference("tcp_seq", line.sequence, packet.sequence),
      (line.flags & TcpFlag::acknowledge) == 0 ? ""
                                               : field_difference("tcp_ack", line.acknowledged, packet.acknowledged),
      line.window ? field_difference("tcp_window", *line.window, packet.window) : "",
      field_difference("tcp_urg_ptr", line.urgent, packet.urgent),
      service_difference(packet, line),
      line.hop_limit ? field_difference("ip_ttl", *line.hop_limit, packet.hop_limit) : "",
      has_content ? "payload: expected zeros" : "",
  };
  for (const std::string& one : found) {
    if (!one.empty()) return one;
  }
  return option_difference(packet, line, rules);
}

}  // namespace ingot::network_scripts
