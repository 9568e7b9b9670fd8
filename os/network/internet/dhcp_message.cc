#include "os/network/internet/dhcp_message.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "os/network/internet/interface.h"

namespace ingot::os::network {

namespace {

struct DhcpHeader {
  static constexpr std::uint8_t from_client = 1, from_server = 2;
  static constexpr std::uint32_t the_magic = 0x63825363;
  static constexpr std::uint16_t broadcast = 0x8000;
  std::uint8_t operation, hardware_kind, hardware_bytes, hops;
  Big32 transaction;
  Big16 seconds, flags;
  IpAddress::V4 client, yours, server, relay;
  std::array<std::uint8_t, 16> hardware;
  std::array<std::uint8_t, 64> server_name;
  std::array<std::uint8_t, 128> file;
  Big32 magic;
};
static_assert(sizeof(DhcpHeader) == 240);

struct Option {
  static constexpr std::uint8_t padding = 0, mask = 1, routers = 3, name_servers = 6, host_name = 12, mtu = 26,
                                requested = 50, lease = 51, overload = 52, kind = 53, server = 54, wanted = 55,
                                longest_message = 57, renewal = 58, rebinding = 59, client = 61, end = 255;
};

class OptionWriter {
 public:
  explicit OptionWriter(std::span<std::byte> room) : room_(room) {}

  void add(std::uint8_t option, std::span<const std::byte> value) {
    room_[at_++] = std::byte{option};
    room_[at_++] = std::byte{static_cast<std::uint8_t>(value.size())};
    std::memcpy(room_.data() + at_, value.data(), value.size());
    at_ += value.size();
  }
  template <class Value>
  void add(std::uint8_t option, const Value& value) {
    add(option, std::as_bytes(std::span(&value, 1)));
  }
  void add_address(std::uint8_t option, const IpAddress& address) {
    if (!address.is_unspecified()) add(option, address.as_v4());
  }
  std::size_t end() {
    room_[at_++] = std::byte{Option::end};
    return at_;
  }

 private:
  std::span<std::byte> room_;
  std::size_t at_ = 0;
};

template <class Number>
bool read_number(std::span<const std::byte> value, Number& number) {
  BigEndian<Number> big;
  if (value.size() != sizeof big) return false;
  std::memcpy(&big, value.data(), sizeof big);
  number = big;
  return true;
}

IpAddress address_at(std::span<const std::byte> value, std::size_t at) {
  IpAddress::V4 bytes;
  std::memcpy(bytes.data(), value.data() + at, bytes.size());
  return IpAddress(bytes);
}

bool read_addresses(std::span<const std::byte> value, DhcpReply::Addresses& addresses) {
  if (value.empty() || value.size() % 4 != 0) return false;
  for (std::size_t at = 0; at < value.size(); at += 4) {
    if (is_one_machine(address_at(value, at))) addresses.push_back(address_at(value, at));
  }
  return true;
}

bool read_mask(std::span<const std::byte> value, std::uint8_t& bits) {
  std::uint32_t mask;
  if (!read_number(value, mask)) return false;
  bits = static_cast<std::uint8_t>(std::countl_one(mask));
  return bits != 0 && mask == ~0u << (32 - bits);
}

bool read_option(std::uint8_t option, std::span<const std::byte> value, DhcpReply& reply, std::uint8_t& overload) {
  switch (option) {
    case Option::mask: return read_mask(value, reply.prefix_bits);
    case Option::routers: return read_addresses(value, reply.routers);
    case Option::name_servers: return read_addresses(value, reply.name_servers);
    case Option::mtu: return read_number(value, reply.mtu);
    case Option::lease: return read_number(value, reply.lease);
    case Option::renewal: return read_number(value, reply.renewal);
    case Option::rebinding: return read_number(value, reply.rebinding);
    case Option::overload: return read_number(value, overload);
    case Option::server:
      if (value.size() != 4) return false;
      reply.server = address_at(value, 0);
      return true;
    case Option::kind: {
      std::uint8_t kind;
      if (!read_number(value, kind)) return false;
      reply.kind = DhcpKind{kind};
      return true;
    }
    default: return true;
  }
}

bool read_options(std::span<const std::byte> options, DhcpReply& reply, std::uint8_t& overload) {
  while (!options.empty()) {
    const auto option = std::to_integer<std::uint8_t>(options[0]);
    options = options.subspan(1);
    if (option == Option::padding) continue;
    if (option == Option::end) return true;
    if (options.empty()) return false;
    const auto bytes = std::to_integer<std::size_t>(options[0]);
    if (bytes + 1 > options.size() || !read_option(option, options.subspan(1, bytes), reply, overload)) return false;
    options = options.subspan(1 + bytes);
  }
  return true;  // some servers forget the end
}

}  // namespace

std::size_t write_dhcp(const DhcpQuestion& question, const HardwareAddress& hardware, std::span<std::byte> room) {
  DhcpHeader& header = *reinterpret_cast<DhcpHeader*>(room.data());
  header.operation = DhcpHeader::from_client;
  header.hardware_kind = 1;
  header.hardware_bytes = sizeof hardware;
  header.transaction = question.transaction;
  header.seconds = question.seconds;
  // Without an address we would not take an answer to one.
  const bool has_address = !question.client.is_unspecified();
  if (has_address) header.client = question.client.as_v4();
  header.flags = has_address ? std::uint16_t{0} : DhcpHeader::broadcast;
  std::copy(hardware.begin(), hardware.end(), header.hardware.begin());
  header.magic = DhcpHeader::the_magic;

  OptionWriter options(room.subspan(sizeof header));
  options.add(Option::kind, question.kind);
  std::array<std::uint8_t, 1 + sizeof hardware> client{1};
  std::copy(hardware.begin(), hardware.end(), client.begin() + 1);
  options.add(Option::client, client);
  options.add_address(Option::requested, question.requested);
  options.add_address(Option::server, question.server);
  if (question.kind != DhcpKind::decline) {
    options.add(Option::longest_message, Big16(1500));
    options.add(Option::wanted, std::array{Option::mask, Option::routers, Option::name_servers, Option::mtu,
                                           Option::lease, Option::renewal, Option::rebinding});
    if (!question.host_name.empty()) options.add(Option::host_name, std::as_bytes(std::span(question.host_name)));
  }
  // Relays of the time before DHCP drop what is shorter than 300 (RFC 1542 2.1).
  return std::max<std::size_t>(sizeof header + options.end(), 300);
}

bool read_dhcp(std::span<const std::byte> message, const HardwareAddress& hardware, DhcpReply& reply) {
  if (message.size() < sizeof(DhcpHeader)) return false;
  const DhcpHeader& header = *reinterpret_cast<const DhcpHeader*>(message.data());
  if (header.operation != DhcpHeader::from_server || header.hardware_kind != 1 ||
      header.hardware_bytes != sizeof hardware || header.magic != DhcpHeader::the_magic ||
      !std::equal(hardware.begin(), hardware.end(), header.hardware.begin())) {
    return false;
  }
  reply.transaction = header.transaction;
  reply.address = IpAddress(header.yours);
  std::uint8_t overload = 0, ignored = 0;
  if (!read_options(message.subspan(sizeof header), reply, overload)) return false;
  // Options that found no room elsewhere (RFC 2132 9.3).
  if ((overload & 1) != 0 && !read_options(std::as_bytes(std::span(header.file)), reply, ignored)) return false;
  if ((overload & 2) != 0 && !read_options(std::as_bytes(std::span(header.server_name)), reply, ignored)) return false;
  if (reply.kind == DhcpKind::refusal) return true;
  const bool is_grant = reply.kind == DhcpKind::offer || reply.kind == DhcpKind::acknowledgment;
  return is_grant && reply.lease != 0 && is_one_machine(reply.address) && !reply.server.is_unspecified();
}

}  // namespace ingot::os::network
