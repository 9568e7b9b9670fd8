#include "tests/network/packet_reader.h"

#include <array>

#include "tests/network/wire_packet.h"

namespace ingot::network_scripts {
namespace {

constexpr std::int64_t most_of_16 = UINT16_MAX, most_of_32 = UINT32_MAX;
constexpr std::size_t most_option_bytes = 40;

struct CongestionWord {
  std::string_view name;
  std::uint8_t bits;
};
constexpr std::array<CongestionWord, 4> congestion_words = {{{"noecn", 0}, {"ect0", 2}, {"ect1", 1}, {"ce", 3}}};

Result<void> read_congestion(TokenStream& tokens, ServiceCheck& service) {
  service.mask |= ServiceCheck::congestion_bits;
  if (tokens.takes("ect01")) return service.any_capable = true, Result<void>();
  for (const CongestionWord& word : congestion_words) {
    if (tokens.takes(word.name)) return service.value |= word.bits, Result<void>();
  }
  return tokens.failure("noecn, ect0, ect1, ect01 or ce");
}

Result<void> read_internet_field(TokenStream& tokens, PacketLine& packet) {
  if (tokens.takes("ttl") || tokens.takes("hlim")) {
    packet.hop_limit = static_cast<std::uint8_t>(TRY(tokens.number(0, 255, "a hop limit from 0 to 255")));
    return {};
  }
  if (tokens.takes("tos") || tokens.takes("class")) {
    packet.service.mask = 255;
    packet.service.value = static_cast<std::uint8_t>(TRY(tokens.number(0, 255, "a byte")));
    return {};
  }
  if (tokens.takes("flowlabel")) {
    TRY(tokens.number(0, 0xfffff, "20 bits"));  // no stack here is held to one
    return {};
  }
  (void)tokens.takes("ECN");
  return read_congestion(tokens, packet.service);
}

Result<void> read_internet_fields(TokenStream& tokens, PacketLine& packet) {
  const bool is_round = tokens.peek().is('(');
  if (!is_round && !tokens.peek().is('[')) return {};
  tokens.take();
  do {
    TRY(read_internet_field(tokens, packet));
  } while (tokens.takes(','));
  return tokens.expect(is_round ? ')' : ']');
}

Result<Ports> read_ports(TokenStream& tokens) {
  Ports ports;
  ports.from = static_cast<std::uint16_t>(TRY(tokens.number(0, most_of_16, "a port")));
  TRY(tokens.expect('>'));
  ports.to = static_cast<std::uint16_t>(TRY(tokens.number(0, most_of_16, "a port")));
  return ports;
}

Result<void> read_flags(TokenStream& tokens, PacketLine& packet) {
  constexpr std::string_view letters = "FSRPAUEWN";  // in the order of the bits
  if (tokens.takes('-')) return {};
  const std::string word = tokens.peek().kind == Token::Kind::word ? tokens.take().text : std::string();
  for (const char letter : word) {
    const std::size_t bit = letters.find(letter);
    if (bit == std::string_view::npos || letter == 'A') return tokens.failure("flags of FSRPUEWN behind " + word);
    packet.flags = static_cast<std::uint16_t>(packet.flags | (1u << bit));
  }
  if (tokens.takes('.')) {
    packet.flags |= TcpFlag::acknowledge;
  } else if (word.empty()) {
    return tokens.failure("TCP's flags, udp or icmp");
  }
  return {};
}

// 1:1001(1000), with a `!` where it is not to be mapped, or ...(0).
Result<void> read_sequence(TokenStream& tokens, PacketLine& packet) {
  std::int64_t begin = 0, end = 0;
  if (tokens.takes(Token::Kind::ellipsis)) {
    packet.any_sequence = true;
  } else {
    begin = TRY(tokens.number(0, most_of_32, "a sequence number"));
    TRY(tokens.expect(':'));
    end = TRY(tokens.number(0, most_of_32, "a sequence number"));
  }
  TRY(tokens.expect('('));
  const std::int64_t bytes = TRY(tokens.number(0, most_of_16, "a payload of at most 65535 bytes"));
  if (!packet.any_sequence && static_cast<std::uint32_t>(begin + bytes) != end) {
    return tokens.failure("a range that its payload fits");
  }
  TRY(tokens.expect(')'));
  packet.sequence = static_cast<std::uint32_t>(begin);
  packet.payload = static_cast<std::uint32_t>(bytes);
  packet.absolute_sequence = tokens.takes('!');
  return {};
}

Result<std::vector<std::uint8_t>> read_hexadecimal(TokenStream& tokens) {
  const std::string digits = tokens.take().text;
  std::vector<std::uint8_t> bytes;
  for (std::size_t index = 0; index + 1 < digits.size(); index += 2) {
    unsigned value = 0;
    for (const char digit : digits.substr(index, 2)) {
      const std::size_t found = std::string_view("0123456789abcdef").find(static_cast<char>(digit | 0x20));
      if (found == std::string_view::npos) return tokens.failure("pairs of hexadecimal digits before it");
      value = value * 16 + static_cast<unsigned>(found);
    }
    bytes.push_back(static_cast<std::uint8_t>(value));
  }
  if (digits.size() % 2 != 0) return tokens.failure("pairs of hexadecimal digits before it");
  return bytes;
}

Result<void> read_timestamps(TokenStream& tokens, TcpOption& option) {
  std::int64_t value = 0;
  if (!tokens.takes("val")) return tokens.failure("val");
  option.any_value = tokens.takes(Token::Kind::ellipsis);
  if (!option.any_value) value = TRY(tokens.number(0, most_of_32, "a timestamp"));
  if (!tokens.takes("ecr")) return tokens.failure("ecr");
  const std::int64_t echo = TRY(tokens.number(0, most_of_32, "a timestamp"));
  option.absolute_echo = tokens.takes('!');
  option.numbers = {static_cast<std::uint32_t>(value), static_cast<std::uint32_t>(echo)};
  return {};
}

Result<void> read_blocks(TokenStream& tokens, TcpOption& option) {
  do {
    const std::int64_t left = TRY(tokens.number(0, most_of_32, "a block's left edge"));
    TRY(tokens.expect(':'));
    const std::int64_t right = TRY(tokens.number(0, most_of_32, "a block's right edge"));
    option.numbers.push_back(static_cast<std::uint32_t>(left));
    option.numbers.push_back(static_cast<std::uint32_t>(right));
  } while (tokens.peek().kind == Token::Kind::number && option.numbers.size() < 8);
  return {};
}

Result<TcpOption> read_option(TokenStream& tokens) {
  TcpOption option;
  const std::string name = TRY(tokens.word("a TCP option"));
  if (name == "eol") return option;
  if (name == "nop") return option.kind = TcpOption::no_operation, std::move(option);
  if (name == "sackOK") return option.kind = TcpOption::sack_permitted, std::move(option);
  if (name == "mss" || name == "wscale") {
    const bool is_size = name == "mss";
    option.kind = is_size ? TcpOption::segment_size : TcpOption::window_scale;
    option.numbers = {static_cast<std::uint32_t>(TRY(tokens.number(0, is_size ? most_of_16 : 255, "its value")))};
  } else if (name == "sack") {
    option.kind = TcpOption::sack;
    TRY(read_blocks(tokens, option));
  } else if (name == "TS") {
    option.kind = TcpOption::timestamps;
    TRY(read_timestamps(tokens, option));
  } else if (name == "md5") {
    option.kind = TcpOption::md5;
    if (!tokens.takes("valid")) option.bytes = TRY(read_hexadecimal(tokens));
  } else if (name == "FO" || name == "FOEXP") {
    option.kind = name == "FO" ? TcpOption::fast_open : TcpOption::experiment;
    if (name == "FOEXP") option.bytes = {0xf9, 0x89};
    if (!tokens.peek().is(',') && !tokens.peek().is('>')) {
      for (const std::uint8_t byte : TRY(read_hexadecimal(tokens))) option.bytes.push_back(byte);
    }
  } else {
    return tokens.failure("eol, nop, mss, wscale, sackOK, sack, TS, md5, FO or FOEXP instead of " + name +
                          " before it");
  }
  return option;
}

Result<void> read_options(TokenStream& tokens, PacketLine& packet) {
  if (!tokens.peek().is('<')) return {};
  tokens.take();
  if (tokens.peek().kind == Token::Kind::ellipsis) {
    if (!packet.is_outgoing) return tokens.failure("options, as the packet comes in");
    tokens.take();
    packet.any_options = true;
    return tokens.expect('>');
  }
  do {
    packet.options.push_back(TRY(read_option(tokens)));
    if (wire_bytes(packet.options) > most_option_bytes) return tokens.failure("40 bytes of options before it");
  } while (tokens.takes(','));
  return tokens.expect('>');
}

Result<void> read_tcp(TokenStream& tokens, PacketLine& packet) {
  TRY(read_flags(tokens, packet));
  TRY(read_sequence(tokens, packet));
  if (tokens.takes("ack")) {
    packet.acknowledged = static_cast<std::uint32_t>(TRY(tokens.number(0, most_of_32, "a sequence number")));
  }
  if (tokens.takes("win")) {
    packet.window = static_cast<std::uint16_t>(TRY(tokens.number(0, most_of_16, "a window of 16 bits")));
  }
  if (tokens.takes("urg")) {
    packet.urgent = static_cast<std::uint16_t>(TRY(tokens.number(0, most_of_16, "a pointer of 16 bits")));
  }
  TRY(read_options(tokens, packet));
  if (!tokens.takes('/')) return {};
  if (!tokens.takes("udp")) return tokens.failure("udp");
  TRY(tokens.expect('('));
  packet.encapsulation = TRY(read_ports(tokens));
  return tokens.expect(')');
}

// udp (1000), udp 1000 > 2000 (1000)
Result<void> read_udp(TokenStream& tokens, PacketLine& packet) {
  packet.protocol = ScriptProtocol::udp;
  if (tokens.peek().kind == Token::Kind::number) packet.ports = TRY(read_ports(tokens));
  TRY(tokens.expect('('));
  packet.payload = static_cast<std::uint32_t>(TRY(tokens.number(0, most_of_16, "a payload of at most 65535 bytes")));
  return tokens.expect(')');
}

// icmp unreachable frag_needed mtu 1400 [1:1461(1460)]
Result<void> read_icmp(TokenStream& tokens, PacketLine& packet) {
  packet.protocol = ScriptProtocol::icmp;
  packet.icmp_type = TRY(tokens.word("ICMP's type"));
  if (tokens.peek().kind == Token::Kind::word && !tokens.peek().is("mtu") && !tokens.peek().is("id")) {
    packet.icmp_code = tokens.take().text;
  }
  if (tokens.takes("mtu")) {
    packet.icmp_mtu = static_cast<std::uint32_t>(TRY(tokens.number(0, most_of_32, "an MTU")));
  }
  if (tokens.takes("id")) TRY(tokens.number(0, most_of_16, "an identifier"));
  if (!tokens.takes('[')) return {};
  packet.has_echoed = true;
  TRY(read_sequence(tokens, packet));
  return tokens.expect(']');
}

}  // namespace

Result<PacketLine> read_packet(TokenStream& tokens) {
  PacketLine packet;
  packet.is_outgoing = tokens.takes('>');
  if (!packet.is_outgoing) TRY(tokens.expect('<'));
  TRY(read_internet_fields(tokens, packet));
  if (tokens.takes("icmp")) {
    TRY(read_icmp(tokens, packet));
  } else if (tokens.takes("udp")) {
    TRY(read_udp(tokens, packet));
  } else {
    if (tokens.peek().kind == Token::Kind::number) packet.ports = TRY(read_ports(tokens));
    TRY(read_tcp(tokens, packet));
  }
  return packet;
}

}  // namespace ingot::network_scripts
