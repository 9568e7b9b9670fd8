// Machines, links and a wire between them, for tests: time stands until it is told to go on.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "os/network/internet/solicitations.h"
#include "os/network/stack.h"
#include "os/schedule/test_heap.h"

namespace ingot::os::network::test {

using Frame = std::vector<std::uint8_t>;

class TestMachine final : public Machine {
 public:
  TestMachine() { heap.left = 1 << 30; }
  Nanoseconds now() override { return time; }
  void fill_random(std::span<std::byte> bytes) override {
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  }
  HeapBlocks& blocks() override { return blocks_; }
  void wake_at(Nanoseconds when) override { wake = std::min(wake, when); }

  Received packet(const Frame& frame, std::size_t first_piece = ~std::size_t{0}) {
    const int left = std::exchange(heap.left, 1 << 30);
    Reference<Block> block = blocks_.create(std::max<std::size_t>(frame.size(), 1)).value();
    if (!frame.empty()) std::memcpy(block->bytes().data(), frame.data(), frame.size());
    Received packet{ByteChain(blocks_)};
    const std::size_t cut = std::min(first_piece, frame.size());
    EXPECT_TRUE(packet.bytes.add(block, block->bytes().first(cut)).ok());
    EXPECT_TRUE(packet.bytes.add(block, block->bytes().subspan(cut, frame.size() - cut)).ok());
    heap.left = left;
    return packet;
  }

  TestHeap heap;
  Nanoseconds time, wake = forever;
  std::mt19937 random{2026};

 private:
  HeapBlocks blocks_{heap};
};

class TestLink final : public Link {
 public:
  explicit TestLink(std::uint8_t last) { own.address = {2, 0, 0, 0, 0, last}; }
  const LinkProperties& properties() const override { return own; }
  bool is_up() const override { return up; }
  bool send(const Outgoing& packet) override {
    if (!up || !has_room) return false;
    Frame frame(packet.bytes());
    std::memcpy(frame.data(), packet.header().data(), packet.header().size());
    if (packet.payload_bytes != 0) {
      const std::span rest = std::span(frame).subspan(packet.header().size());
      packet.chain->copy_out(packet.payload_begin, std::as_writable_bytes(rest));
    }
    sent.push_back(std::move(frame));
    return true;
  }
  void flush() override { ++flushes; }
  std::vector<Frame> take() { return std::exchange(sent, {}); }

  LinkProperties own{"eth0"};
  bool up = true, has_room = true;
  int flushes = 0;
  std::vector<Frame> sent;
};

struct TestTransport final : Transport {
  void received(const Arrival& arrival, Received&& packet) override {
    arrivals.push_back(arrival);
    std::string text(packet.bytes.bytes(), '\0');
    if (!text.empty()) packet.bytes.copy_out(0, std::as_writable_bytes(std::span(text)));
    packets.push_back(std::move(text));
    packet.bytes.clear();
  }
  void refused(const Refusal& refusal) override { refusals.push_back(refusal); }

  std::vector<Arrival> arrivals;
  std::vector<std::string> packets;
  std::vector<Refusal> refusals;
};

// One machine with one link. Its packets go to recorders instead of TCP and UDP.
struct TestHost final : ConfigurationEvents {
  explicit TestHost(std::uint8_t last) : link(last), stack(machine, settings, this, "guest") {
    stack.internet().attach(Protocol::udp, udp);
    stack.internet().attach(Protocol::tcp, tcp);
  }
  static Configuration fixed(const IpAddress& address, std::uint8_t bits, const IpAddress& gateway = {}) {
    Configuration wanted;
    wanted.addresses.push_back({address, bits});
    if (!gateway.is_unspecified()) wanted.gateways.push_back(gateway);
    return wanted;
  }
  void configured(Link&, const Configuration& now) override { configurations.push_back(now); }
  void address_taken(Link&, const IpAddress& address) override { taken.push_back(address); }

  void receive(const Frame& frame, std::size_t first_piece = ~std::size_t{0}) {
    Received packet = machine.packet(frame, first_piece);
    stack.received(link, std::span(&packet, 1));
  }
  void advance(Nanoseconds span) {
    const Nanoseconds end = machine.time + span;
    while (machine.wake <= end) {
      machine.time = std::max(machine.time, std::exchange(machine.wake, forever));
      stack.run_timers();
    }
    machine.time = end;
  }
  // A datagram of any bytes; the first eight are its header.
  bool send(const IpAddress& to, const std::string& text, Protocol protocol = Protocol::udp, bool may_be_cut = true) {
    const Answer<Route> route = stack.internet().route(to, {});
    if (!route.ok()) return false;
    Received payload = machine.packet(Frame(text.begin(), text.end()), text.size() / 2);
    const std::size_t header = text.size() < 8 ? 0 : 8;
    Outgoing packet;
    packet.chain = &payload.bytes;
    packet.payload_begin = header;
    packet.payload_bytes = static_cast<std::uint32_t>(text.size() - header);
    std::memcpy(packet.push_bytes(header).data(), text.data(), header);
    const bool sent =
        stack.internet().send(route.value(), {route.value().source, to, protocol, 64, 0, may_be_cut}, packet);
    stack.finish();
    return sent;
  }
  Interface& interface() { return *stack.internet().routes().find(&link); }
  const InternetCounters& counters() { return stack.internet().counters(); }

  TestMachine machine;
  TestLink link;
  TestTransport udp, tcp;
  std::vector<Configuration> configurations;
  std::vector<IpAddress> taken;
  TcpSettings settings;
  Stack stack;
};

// Two machines on a wire.
struct TestWire {
  // Until nobody has anything to say.
  void pump() {
    for (int round = 0; round < 200; ++round) {
      const std::vector<Frame> from_left = left.link.take(), from_right = right.link.take();
      if (from_left.empty() && from_right.empty()) return;
      for (const Frame& frame : from_left) right.receive(frame);
      for (const Frame& frame : from_right) left.receive(frame);
    }
    ADD_FAILURE() << "they never stop";
  }
  void advance(Nanoseconds span) {
    const Nanoseconds end = left.machine.time + span;
    pump();
    while (std::min(left.machine.wake, right.machine.wake) <= end) {
      const Nanoseconds next = std::max(left.machine.time, std::min(left.machine.wake, right.machine.wake));
      for (TestHost* const host : {&left, &right}) {
        host->machine.time = next;
        if (host->machine.wake > next) continue;
        host->machine.wake = forever;
        host->stack.run_timers();
      }
      pump();
    }
    left.machine.time = right.machine.time = end;
  }

  TestHost left{1}, right{2};
};

// Headers, one around the other.
inline std::uint16_t big16(const Frame& bytes, std::size_t at) {
  return static_cast<std::uint16_t>(bytes.at(at) << 8 | bytes.at(at + 1));
}
template <class Header>
Frame joined(const Header& header, const Frame& rest) {
  Frame bytes(sizeof header);
  std::memcpy(bytes.data(), &header, sizeof header);
  bytes.insert(bytes.end(), rest.begin(), rest.end());
  return bytes;
}
inline Frame bytes_of(const std::string& text) { return {text.begin(), text.end()}; }
inline std::uint16_t sum_of_frame(const Frame& bytes, Checksum sum = {}) {
  sum.add(std::as_bytes(std::span(bytes)));
  return sum.result();
}
inline HardwareAddress hardware(std::uint8_t last) { return {2, 0, 0, 0, 0, last}; }
inline Frame ethernet(FrameKind kind, const Frame& rest, HardwareAddress to = hardware(1),
                      HardwareAddress from = hardware(9)) {
  return joined(EthernetHeader{to, from, static_cast<std::uint16_t>(kind)}, rest);
}
struct V4Fields {
  Protocol protocol = Protocol::udp;
  std::uint16_t identification = 7, fragment = 0;
  Frame options{};
  int total_more = 0;
};
inline Frame ipv4(const IpAddress& from, const IpAddress& to, const Frame& rest, const V4Fields& fields = {}) {
  const std::size_t bytes = 20 + fields.options.size();
  Ipv4Header header{static_cast<std::uint8_t>(0x40 | bytes / 4),
                    0,
                    static_cast<std::uint16_t>(bytes + rest.size() + static_cast<std::size_t>(fields.total_more)),
                    fields.identification,
                    fields.fragment,
                    64,
                    static_cast<std::uint8_t>(fields.protocol),
                    0,
                    from.as_v4(),
                    to.as_v4()};
  Frame head = joined(header, fields.options);
  header.checksum = sum_of_frame(head);
  head = joined(header, fields.options);
  head.insert(head.end(), rest.begin(), rest.end());
  return head;
}
inline Frame ipv6(const IpAddress& from, const IpAddress& to, Protocol next, const Frame& rest,
                  std::uint8_t hops = 64) {
  return joined(Ipv6Header{6u << 28, static_cast<std::uint16_t>(rest.size()), static_cast<std::uint8_t>(next), hops,
                           from.bytes(), to.bytes()},
                rest);
}
inline Frame udp(std::uint16_t from, std::uint16_t to, const Frame& rest) {
  return joined(UdpHeader{from, to, static_cast<std::uint16_t>(8 + rest.size()), 0}, rest);
}
inline Frame icmp(std::uint8_t type, std::uint8_t code, std::uint32_t more, const Frame& rest, Checksum sum = {}) {
  IcmpHeader header{type, code, 0, more};
  header.checksum = sum_of_frame(joined(header, rest), sum);
  return joined(header, rest);
}
inline Frame icmpv6(const IpAddress& from, const IpAddress& to, std::uint8_t type, std::uint8_t code,
                    std::uint32_t more, const Frame& rest, std::uint8_t hops = 255) {
  const auto bytes = static_cast<std::uint32_t>(8 + rest.size());
  return ipv6(from, to, Protocol::icmpv6,
              icmp(type, code, more, rest, pseudo_header(from, to, Protocol::icmpv6, bytes)), hops);
}
inline Frame arp(std::uint16_t operation, std::uint8_t sender_hardware, const IpAddress& sender,
                 const IpAddress& target, HardwareAddress to = everybody) {
  const ArpPacket packet{
      1, 0x0800, 6, 4, operation, hardware(sender_hardware), sender.as_v4(), HardwareAddress{}, target.as_v4()};
  return ethernet(FrameKind::arp, joined(packet, {}), to, hardware(sender_hardware));
}
inline bool is_arp(const Frame& frame, std::uint16_t operation) {
  return big16(frame, 12) == 0x0806 && big16(frame, 20) == operation;
}
// Behind Ethernet's header: of ICMP, its type; else -1.
inline int icmp_type(const Frame& frame) {
  if (big16(frame, 12) == 0x0800 && frame.at(23) == 1) return frame.at(34);
  if (big16(frame, 12) == 0x86dd && frame.at(20) == 58) return frame.at(54);
  return -1;
}
inline IpAddress v6(std::uint16_t first, std::uint16_t second, std::uint8_t last) {
  return IpAddress(IpAddress::V6{std::uint8_t(first >> 8), std::uint8_t(first), std::uint8_t(second >> 8),
                                 std::uint8_t(second), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last});
}
inline Frame bytes_of(const IpAddress& address) { return {address.bytes().begin(), address.bytes().end()}; }

}  // namespace ingot::os::network::test
