// Script: a test of a TCP stack in packetdrill's language, as it was read: what the program calls, what the network
// sends it, what it must send, and when.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace ingot::network_scripts {

using Microseconds = std::int64_t;

struct Position {
  int line = 1;
  int column = 1;
};

struct EventTime {
  enum class Kind { absolute, relative, any, absolute_range, relative_range };
  Kind kind = Kind::relative;
  Microseconds begin = 0;
  Microseconds end = 0;  // of the ranges
};

// As on the wire: `numbers` holds what the kind is known to carry (a size, a shift, edges of blocks, two timestamps),
// `bytes` what it is not known to.
struct TcpOption {
  static constexpr std::uint8_t end_of_list = 0, no_operation = 1, segment_size = 2, window_scale = 3,
                                sack_permitted = 4, sack = 5, timestamps = 8, md5 = 19, fast_open = 34,
                                experiment = 254;
  std::uint8_t kind = end_of_list;
  std::vector<std::uint32_t> numbers;
  std::vector<std::uint8_t> bytes;
  bool any_value = false;      // TS val ...
  bool absolute_echo = false;  // ecr 100!: not to be mapped

  bool operator==(const TcpOption&) const = default;
};

struct TcpFlag {
  static constexpr std::uint16_t fin = 1, syn = 2, reset = 4, push = 8, acknowledge = 16, urgent = 32, echo = 64,
                                 reduced = 128, accurate = 256;
};

// Which bits of the type of service a packet is held to.
struct ServiceCheck {
  static constexpr std::uint8_t congestion_bits = 3;
  std::uint8_t mask = 0;
  std::uint8_t value = 0;
  bool any_capable = false;  // [ect01]: either of the two
};

enum class ScriptProtocol { tcp, udp, icmp };

struct Ports {
  std::uint16_t from = 0, to = 0;
};

struct PacketLine {
  bool is_outgoing = false;
  ServiceCheck service;
  std::optional<std::uint8_t> hop_limit;
  ScriptProtocol protocol = ScriptProtocol::tcp;
  std::optional<Ports> ports;
  std::uint32_t payload = 0;

  std::uint16_t flags = 0;
  std::uint32_t sequence = 0;
  bool absolute_sequence = false;  // 0:0(0)!: not to be mapped
  bool any_sequence = false;       // ...(0)
  std::uint32_t acknowledged = 0;
  std::optional<std::uint16_t> window;
  std::uint16_t urgent = 0;
  std::vector<TcpOption> options;
  bool any_options = false;  // <...>
  std::optional<Ports> encapsulation;

  std::string icmp_type, icmp_code;
  std::optional<std::uint32_t> icmp_mtu;
  bool has_echoed = false;  // of TCP: sequence and payload above are the echoed packet's
};

struct Expression {
  enum class Kind { ellipsis, number, word, text, list, structure, any_of, field, application };
  Kind kind = Kind::ellipsis;
  std::int64_t number = 0;
  std::string text;  // the word, the text, the function's name
  // Members of a list or structure; terms of `a | b`; name and value of `a = b`; arguments of `a(b)`.
  std::vector<Expression> items;
};

struct CallLine {
  std::string name;
  std::vector<Expression> arguments;
  std::optional<Microseconds> end;  // of a call that blocks, on the clock that its begin is on
  Expression result;
  std::string error;  // ECONNRESET
};

struct CommandLine {
  std::string text;
};

struct CodeLine {
  std::string text;
};

struct Event {
  EventTime time;
  Position at;
  std::variant<PacketLine, CallLine, CommandLine, CodeLine> action;
};

struct Script {
  std::vector<std::pair<std::string, std::string>> options;  // without the dashes
  std::vector<Event> events;
};

}  // namespace ingot::network_scripts
