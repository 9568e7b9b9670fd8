// A network for tests of transports: a clock that stands until it is told to go on, numbers that can be repeated, and
// an Internet that keeps what it is given.
#pragma once

#include <algorithm>
#include <climits>
#include <cstdint>
#include <cstring>
#include <deque>
#include <random>
#include <utility>
#include <vector>

#include "os/network/machine.h"
#include "os/network/transport.h"
#include "os/schedule/test_heap.h"

namespace ingot::os::network {

class FakeMachine final : public Machine {
 public:
  static constexpr Nanoseconds never{INT64_MAX};

  FakeMachine() { heap.left = INT_MAX; }
  ~FakeMachine() { EXPECT_EQ(memory.used(), 0u); }
  Nanoseconds now() override { return time; }
  void fill_random(std::span<std::byte> bytes) override {
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  }
  HeapBlocks& blocks() override { return its_blocks; }
  void wake_at(Nanoseconds wanted) override { wake = std::min(wake, wanted); }

  Nanoseconds time{1'000'000'000'000}, wake = never;
  std::mt19937 random{20261117};
  TestHeap heap;
  SocketMemory memory{heap, ~std::uint64_t{0} / 2};
  HeapBlocks its_blocks{heap, &memory};
};

struct FakeLink final : Link {
  const LinkProperties& properties() const override { return its_properties; }
  bool is_up() const override { return true; }
  bool send(const Outgoing&) override { return true; }
  void flush() override {}
  LinkProperties its_properties;
};

struct SentPacket {
  Travel travel;
  std::vector<std::byte> bytes;  // from the transport's header on
};

class FakeInternet final : public Internet {
 public:
  Answer<Route> route(const IpAddress& to, const IpAddress& from) override {
    ++routes;
    if (no_route == to) return Errno::enetunreach;
    if (!from.is_unspecified() && !is_ours(from)) return Errno::eaddrnotavail;
    Route route{&link, from, to, link.its_properties.mtu, version, to.is_multicast() || to.is_limited_broadcast()};
    for (const IpAddress& address : ours) {
      if (!route.source.is_unspecified()) break;
      if (address.version() == to.version() && address.is_loopback() == to.is_loopback()) route.source = address;
    }
    return route.source.is_unspecified() ? Answer<Route>(Errno::enetunreach) : Answer<Route>(route);
  }
  std::uint32_t route_version() const override { return version; }
  bool send(const Route&, const Travel& travel, Outgoing& packet) override {
    if (!has_room) return false;
    SentPacket& copy = sent.emplace_back();
    copy.travel = travel;
    copy.bytes.assign(packet.header().begin(), packet.header().end());
    if (packet.payload_bytes != 0) {
      packet.chain->visit(packet.payload_begin, packet.payload_bytes, [&](Block&, std::span<std::byte> part) {
        copy.bytes.insert(copy.bytes.end(), part.begin(), part.end());
      });
    }
    return true;
  }
  bool is_ours(const IpAddress& address) const override {
    return std::find(ours.begin(), ours.end(), address) != ours.end();
  }
  void refuse_port(const Arrival& arrival, std::span<const std::byte>) override { refused.push_back(arrival.from); }

  // The oldest that was sent and not yet taken. Precondition: there is one.
  SentPacket take() {
    SentPacket first = std::move(sent.front());
    sent.pop_front();
    return first;
  }

  FakeLink link;
  std::vector<IpAddress> ours;
  IpAddress no_route;
  std::uint32_t version = 1, routes = 0;
  bool has_room = true;
  std::deque<SentPacket> sent;
  std::vector<IpAddress> refused;  // whom we told that nobody is there
};

inline Received make_received(HeapBlocks& blocks, std::span<const std::byte> bytes) {
  ByteChain chain(blocks);
  if (!bytes.empty()) {
    Reference<Block> block = blocks.create(bytes.size()).value();
    const std::span<std::byte> room = block->bytes();
    std::memcpy(room.data(), bytes.data(), bytes.size());
    EXPECT_TRUE(chain.add(std::move(block), room).ok());
  }
  return Received(std::move(chain));
}

// As the Internet's own layer would hand it over at the other end.
inline void deliver(const SentPacket& packet, HeapBlocks& blocks, Transport& to) {
  const Arrival arrival{packet.travel.from,      packet.travel.to,      packet.travel.protocol,
                        packet.travel.hop_limit, packet.travel.service, packet.travel.to.is_limited_broadcast()};
  to.received(arrival, make_received(blocks, packet.bytes));
}

struct EventRecorder final : SocketEvents {
  void changed(std::uint32_t events) override { told |= events, ++times; }
  std::uint32_t told = 0, times = 0;
};

}  // namespace ingot::os::network
