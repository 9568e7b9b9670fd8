// The headers of packets, as they lie in memory: no padding, any alignment. A reader checks lengths before it looks.
#pragma once

#include <array>
#include <cstdint>

#include "os/network/wire/byte_order.h"

namespace ingot::os::network {

using HardwareAddress = std::array<std::uint8_t, 6>;
inline constexpr HardwareAddress everybody{0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

// What a frame carries (EtherType), and what an IP packet carries (protocol, or IPv6's next header).
enum class FrameKind : std::uint16_t { ipv4 = 0x0800, arp = 0x0806, ipv6 = 0x86dd };
enum class Protocol : std::uint8_t {
  hop_by_hop = 0,
  icmp = 1,
  tcp = 6,
  udp = 17,
  routing = 43,
  fragment = 44,
  icmpv6 = 58,
  nothing = 59,
  destination_options = 60
};

struct EthernetHeader {
  HardwareAddress to, from;
  Big16 kind;
};
static_assert(sizeof(EthernetHeader) == 14);

struct ArpPacket {
  static constexpr std::uint16_t request = 1, reply = 2;
  Big16 hardware_kind, protocol_kind;
  std::uint8_t hardware_bytes, protocol_bytes;
  Big16 operation;
  HardwareAddress sender_hardware;
  std::array<std::uint8_t, 4> sender;
  HardwareAddress target_hardware;
  std::array<std::uint8_t, 4> target;
};
static_assert(sizeof(ArpPacket) == 28);

struct Ipv4Header {
  static constexpr std::uint16_t do_not_fragment = 0x4000, more_fragments = 0x2000, offset_mask = 0x1fff;
  std::uint8_t version_and_words, service;
  Big16 total_bytes, identification, fragment;  // offset in units of 8 bytes
  std::uint8_t time_to_live, protocol;
  Big16 checksum;
  std::array<std::uint8_t, 4> source, destination;
};
static_assert(sizeof(Ipv4Header) == 20);

struct Ipv6Header {
  Big32 version_class_flow;
  Big16 payload_bytes;
  std::uint8_t next, hop_limit;
  std::array<std::uint8_t, 16> source, destination;
};
static_assert(sizeof(Ipv6Header) == 40);

struct Ipv6Fragment {
  std::uint8_t next, reserved;
  Big16 offset_and_more;  // offset in bytes, the lowest bit: more follow
  Big32 identification;
};
static_assert(sizeof(Ipv6Fragment) == 8);

struct IcmpHeader {
  std::uint8_t type, code;
  Big16 checksum;
  Big32 rest;  // echo: identifier and sequence; too big: the MTU
};
static_assert(sizeof(IcmpHeader) == 8);

struct UdpHeader {
  Big16 source, destination, bytes, checksum;
};
static_assert(sizeof(UdpHeader) == 8);

struct TcpHeader {
  static constexpr std::uint8_t fin = 1, syn = 2, rst = 4, psh = 8, ack = 16, urg = 32, ece = 64, cwr = 128;
  Big16 source, destination;
  Big32 sequence, acknowledgment;
  std::uint8_t words_and_reserved;  // length of header and options in words of 4 bytes, in the upper half
  std::uint8_t flags;
  Big16 window, checksum, urgent;
};
static_assert(sizeof(TcpHeader) == 20);

}  // namespace ingot::os::network
