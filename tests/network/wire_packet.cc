#include "tests/network/wire_packet.h"

#include <algorithm>
#include <cstring>

#include "os/network/wire/headers.h"

namespace ingot::network_scripts {
namespace {

using os::network::Big16;
using os::network::Big32;
using os::network::IcmpHeader;
using os::network::Ipv4Header;
using os::network::Ipv6Header;
using os::network::TcpHeader;
using os::network::UdpHeader;

constexpr std::uint8_t internet_tcp = 6, internet_udp = 17, internet_icmp = 1, internet_icmp6 = 58;

// Not the stack's own: a sum that both get wrong would pass.
std::uint32_t sum_of(std::span<const std::uint8_t> bytes, std::uint32_t sum = 0) {
  for (std::size_t index = 0; index < bytes.size(); ++index) {
    sum += index % 2 == 0 ? std::uint32_t{bytes[index]} << 8 : bytes[index];
    sum = (sum & 0xffff) + (sum >> 16);
  }
  return sum;
}

std::uint16_t checksum_of(std::uint32_t sum) { return static_cast<std::uint16_t>(~((sum & 0xffff) + (sum >> 16))); }

std::uint8_t number_of(const WirePacket& packet) {
  switch (packet.protocol) {
    case ScriptProtocol::tcp: return internet_tcp;
    case ScriptProtocol::udp: return internet_udp;
    case ScriptProtocol::icmp: return packet.from.address.is_v4() ? internet_icmp : internet_icmp6;
  }
  return 0;
}

std::span<const std::uint8_t> address_bytes(const IpAddress& address) {
  const std::span all(address.bytes());
  return address.is_v4() ? all.subspan(12) : all;
}

std::uint16_t transport_checksum(const WirePacket& packet, std::span<const std::uint8_t> bytes) {
  std::uint32_t sum = 0;
  if (packet.protocol != ScriptProtocol::icmp || !packet.from.address.is_v4()) {
    sum = sum_of(address_bytes(packet.to.address), sum_of(address_bytes(packet.from.address)));
    sum += static_cast<std::uint32_t>(bytes.size() >> 16) + static_cast<std::uint32_t>(bytes.size() & 0xffff);
    sum += number_of(packet);
  }
  return checksum_of(sum_of(bytes, (sum & 0xffff) + (sum >> 16)));
}

template <class Header>
void append_header(Bytes& bytes, const Header& header) {
  const auto* begin = reinterpret_cast<const std::uint8_t*>(&header);
  bytes.insert(bytes.end(), begin, begin + sizeof(header));
}

void append_number(Bytes& bytes, std::uint32_t number, std::size_t size) {
  for (std::size_t index = size; index-- > 0;) bytes.push_back(static_cast<std::uint8_t>(number >> (8 * index)));
}

std::size_t number_bytes(std::uint8_t kind) {
  switch (kind) {
    case TcpOption::segment_size: return 2;
    case TcpOption::window_scale: return 1;
    case TcpOption::sack:
    case TcpOption::timestamps: return 4;
    default: return 0;
  }
}

std::size_t wire_bytes_of(const TcpOption& option) {
  if (option.kind <= TcpOption::no_operation) return 1;
  return 2 + option.numbers.size() * number_bytes(option.kind) + option.bytes.size();
}

Bytes option_bytes(const std::vector<TcpOption>& options) {
  Bytes bytes;
  for (const TcpOption& option : options) {
    bytes.push_back(option.kind);
    if (option.kind <= TcpOption::no_operation) continue;
    bytes.push_back(static_cast<std::uint8_t>(wire_bytes_of(option)));
    const std::size_t size = number_bytes(option.kind);
    for (const std::uint32_t number : option.numbers) append_number(bytes, number, size);
    bytes.insert(bytes.end(), option.bytes.begin(), option.bytes.end());
  }
  bytes.resize((bytes.size() + 3) / 4 * 4);
  return bytes;
}

Bytes transport_header(const WirePacket& packet) {
  Bytes bytes;
  if (packet.protocol == ScriptProtocol::icmp) {
    append_header(bytes, IcmpHeader{packet.icmp_type, packet.icmp_code, 0, packet.icmp_rest});
  } else if (packet.protocol == ScriptProtocol::udp) {
    const auto length = static_cast<std::uint16_t>(sizeof(UdpHeader) + packet.payload.size());
    append_header(bytes, UdpHeader{packet.from.port, packet.to.port, length, 0});
  } else {
    const Bytes options = option_bytes(packet.options);
    const auto words = static_cast<std::uint8_t>((sizeof(TcpHeader) + options.size()) / 4);
    append_header(bytes, TcpHeader{packet.from.port, packet.to.port, packet.sequence, packet.acknowledged,
                                   static_cast<std::uint8_t>(words << 4 | packet.flags >> 8),
                                   static_cast<std::uint8_t>(packet.flags), packet.window, 0, packet.urgent});
    bytes.insert(bytes.end(), options.begin(), options.end());
  }
  return bytes;
}

constexpr std::size_t checksum_field(ScriptProtocol protocol) {
  switch (protocol) {
    case ScriptProtocol::tcp: return 16;
    case ScriptProtocol::udp: return 6;
    case ScriptProtocol::icmp: return 2;
  }
  return 0;
}

Bytes internet_header(const WirePacket& packet, std::size_t transport_bytes) {
  Bytes bytes;
  if (packet.from.address.is_v4()) {
    Ipv4Header header{};
    header.version_and_words = 0x45;
    header.service = packet.service;
    header.total_bytes = static_cast<std::uint16_t>(sizeof(header) + transport_bytes);
    header.time_to_live = packet.hop_limit;
    header.protocol = number_of(packet);
    header.source = packet.from.address.as_v4();
    header.destination = packet.to.address.as_v4();
    append_header(bytes, header);
    const std::uint16_t sum = checksum_of(sum_of(bytes));
    bytes[10] = static_cast<std::uint8_t>(sum >> 8);
    bytes[11] = static_cast<std::uint8_t>(sum);
  } else {
    Ipv6Header header{};
    header.version_class_flow = 0x60000000u | std::uint32_t{packet.service} << 20;
    header.payload_bytes = static_cast<std::uint16_t>(transport_bytes);
    header.next = number_of(packet);
    header.hop_limit = packet.hop_limit;
    header.source = packet.from.address.bytes();
    header.destination = packet.to.address.bytes();
    append_header(bytes, header);
  }
  return bytes;
}

template <class Header>
Result<Header> header_at(std::span<const std::uint8_t> bytes) {
  if (bytes.size() < sizeof(Header)) return Error::of(ErrorCode::corrupt, "a header is cut");
  Header header;
  std::memcpy(static_cast<void*>(&header), bytes.data(), sizeof(header));
  return header;
}

Result<void> read_option_bytes(std::span<const std::uint8_t> bytes, WirePacket& packet) {
  while (!bytes.empty()) {
    TcpOption option;
    option.kind = bytes[0];
    std::size_t length = 1;
    if (option.kind > TcpOption::no_operation) {
      if (bytes.size() < 2 || bytes[1] < 2 || bytes[1] > bytes.size()) {
        return Error::of(ErrorCode::corrupt, "TCP option ", option.kind, " has a wrong length");
      }
      length = bytes[1];
      const std::size_t size = number_bytes(option.kind);
      std::size_t index = 2;
      for (; size != 0 && index + size <= length; index += size) {
        std::uint32_t number = 0;
        for (std::size_t byte = 0; byte < size; ++byte) number = number << 8 | bytes[index + byte];
        option.numbers.push_back(number);
      }
      option.bytes.assign(bytes.begin() + static_cast<std::ptrdiff_t>(index),
                          bytes.begin() + static_cast<std::ptrdiff_t>(length));
    }
    packet.options.push_back(std::move(option));
    bytes = bytes.subspan(length);
  }
  return {};
}

Result<void> read_transport(std::uint8_t protocol, std::span<const std::uint8_t> bytes, WirePacket& packet) {
  std::size_t header_bytes = 0;
  if (protocol == internet_tcp) {
    const auto header = TRY(header_at<TcpHeader>(bytes));
    header_bytes = (header.words_and_reserved >> 4u) * 4u;
    if (header_bytes < sizeof(header) || header_bytes > bytes.size()) {
      return Error::of(ErrorCode::corrupt, "TCP's header has a wrong length");
    }
    packet.from.port = header.source;
    packet.to.port = header.destination;
    packet.sequence = header.sequence;
    packet.acknowledged = header.acknowledgment;
    packet.flags = static_cast<std::uint16_t>((header.words_and_reserved & 1) << 8 | header.flags);
    packet.window = header.window;
    packet.urgent = header.urgent;
    TRY(read_option_bytes(bytes.subspan(sizeof(header), header_bytes - sizeof(header)), packet));
  } else if (protocol == internet_udp) {
    const auto header = TRY(header_at<UdpHeader>(bytes));
    packet.protocol = ScriptProtocol::udp;
    packet.from.port = header.source;
    packet.to.port = header.destination;
    header_bytes = sizeof(header);
    if (header.bytes != bytes.size()) return Error::of(ErrorCode::corrupt, "UDP's header has a wrong length");
  } else if (protocol == internet_icmp || protocol == internet_icmp6) {
    const auto header = TRY(header_at<IcmpHeader>(bytes));
    packet.protocol = ScriptProtocol::icmp;
    packet.icmp_type = header.type;
    packet.icmp_code = header.code;
    packet.icmp_rest = header.rest;
    header_bytes = sizeof(header);
  } else {
    return Error::of(ErrorCode::unsupported, "IP's protocol ", protocol);
  }
  if (transport_checksum(packet, bytes) != 0) return Error::of(ErrorCode::corrupt, "the transport's checksum is wrong");
  packet.payload.assign(bytes.begin() + static_cast<std::ptrdiff_t>(header_bytes), bytes.end());
  return {};
}

std::string name_of_option(const TcpOption& option) {
  const auto number = [&](std::size_t index) { return std::to_string(option.numbers[index]); };
  const bool is_known = option.bytes.empty() && !option.numbers.empty();
  if (option.kind == TcpOption::end_of_list) return "eol";
  if (option.kind == TcpOption::no_operation) return "nop";
  if (option.kind == TcpOption::sack_permitted && option.bytes.empty()) return "sackOK";
  if (option.kind == TcpOption::segment_size && is_known) return "mss " + number(0);
  if (option.kind == TcpOption::window_scale && is_known) return "wscale " + number(0);
  if (option.kind == TcpOption::timestamps && is_known && option.numbers.size() == 2) {
    return "TS val " + number(0) + " ecr " + number(1);
  }
  if (option.kind == TcpOption::sack && is_known && option.numbers.size() % 2 == 0) {
    std::string text = "sack";
    for (std::size_t index = 0; index < option.numbers.size(); index += 2) {
      text += " " + number(index) + ":" + number(index + 1);
    }
    return text;
  }
  return "option " + std::to_string(option.kind) + " of " + std::to_string(option.bytes.size()) + " bytes";
}

}  // namespace

std::size_t wire_bytes(const std::vector<TcpOption>& options) {
  std::size_t bytes = 0;
  for (const TcpOption& option : options) bytes += wire_bytes_of(option);
  return bytes;
}

Bytes to_bytes(const WirePacket& packet) {
  Bytes transport = transport_header(packet);
  transport.insert(transport.end(), packet.payload.begin(), packet.payload.end());
  const std::uint16_t sum = transport_checksum(packet, transport);
  const std::size_t field = checksum_field(packet.protocol);
  transport[field] = static_cast<std::uint8_t>(sum >> 8);
  transport[field + 1] = static_cast<std::uint8_t>(sum);
  Bytes bytes = internet_header(packet, transport.size());
  bytes.insert(bytes.end(), transport.begin(), transport.end());
  return bytes;
}

Result<WirePacket> from_bytes(std::span<const std::uint8_t> bytes) {
  WirePacket packet;
  if (bytes.empty()) return Error::of(ErrorCode::corrupt, "a packet without bytes");
  if (bytes[0] >> 4 == 4) {
    const auto header = TRY(header_at<Ipv4Header>(bytes));
    const std::size_t length = (header.version_and_words & 15u) * 4;
    if (length < sizeof(header) || header.total_bytes != bytes.size() || length > bytes.size()) {
      return Error::of(ErrorCode::corrupt, "IP's header has a wrong length");
    }
    if (checksum_of(sum_of(bytes.first(length))) != 0) return Error::of(ErrorCode::corrupt, "IP's checksum is wrong");
    packet.from.address = IpAddress(header.source);
    packet.to.address = IpAddress(header.destination);
    packet.service = header.service;
    packet.hop_limit = header.time_to_live;
    TRY(read_transport(header.protocol, bytes.subspan(length), packet));
  } else {
    const auto header = TRY(header_at<Ipv6Header>(bytes));
    if (header.version_class_flow >> 28 != 6 || header.payload_bytes != bytes.size() - sizeof(header)) {
      return Error::of(ErrorCode::corrupt, "IP's header has a wrong version or length");
    }
    packet.from.address = IpAddress(header.source);
    packet.to.address = IpAddress(header.destination);
    packet.service = static_cast<std::uint8_t>(header.version_class_flow >> 20);
    packet.hop_limit = header.hop_limit;
    TRY(read_transport(header.next, bytes.subspan(sizeof(header)), packet));
  }
  return packet;
}

std::string as_script(const std::vector<TcpOption>& options) {
  if (options.empty()) return "";
  std::string text;
  for (const TcpOption& option : options) text += (text.empty() ? " <" : ",") + name_of_option(option);
  return text + ">";
}

std::string as_script(const WirePacket& packet) {
  const std::string bytes = "(" + std::to_string(packet.payload.size()) + ")";
  if (packet.protocol == ScriptProtocol::udp) return "udp " + bytes;
  if (packet.protocol == ScriptProtocol::icmp) {
    return "icmp type_" + std::to_string(packet.icmp_type) + " code_" + std::to_string(packet.icmp_code);
  }
  constexpr std::string_view letters = "FSRPAUEWN";
  std::string text;
  for (std::size_t bit = 0; bit < letters.size(); ++bit) {
    if (letters[bit] != 'A' && packet.has(static_cast<std::uint16_t>(1u << bit))) text += letters[bit];
  }
  if (packet.has(TcpFlag::acknowledge)) text += ".";
  if (text.empty()) text = "-";
  text += " " + std::to_string(packet.sequence) + ":" +
          std::to_string(packet.sequence + static_cast<std::uint32_t>(packet.payload.size())) + bytes;
  if (packet.has(TcpFlag::acknowledge)) text += " ack " + std::to_string(packet.acknowledged);
  text += " win " + std::to_string(packet.window);
  if (packet.urgent != 0) text += " urg " + std::to_string(packet.urgent);
  return text + as_script(packet.options);
}

}  // namespace ingot::network_scripts
