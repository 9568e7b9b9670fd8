// Neighbours: the hardware addresses of the machines on our links. Only what we send makes an entry; what others say
// changes those that are there. Whoever has not been heard for a while is asked whether it still is there (RFC 4861 7.3
// in its simple form, RFC 1122 2.3.2.1 for IPv4).
#pragma once

#include <array>
#include <cstdint>

#include "base/intrusive_list.h"
#include "os/network/internet/surroundings.h"

namespace ingot::os::network {

class Neighbours final : NetworkTimer {
 public:
  // What is known of a claim beside its words.
  struct Claim {
    bool is_answer = false;  // to a question of ours
    bool overrides = true;   // what we knew before
  };

  explicit Neighbours(Surroundings& around);
  ~Neighbours();

  // While the neighbour's hardware address is asked for, the packet is kept. False: the link has no room now.
  bool send(Interface& interface, const IpAddress& neighbour, FrameKind kind, Outgoing& packet);
  void heard(const Interface& interface, const IpAddress& address, const HardwareAddress& hardware, Claim claim);
  // The link went down: others may be behind it when it comes back.
  void forget(const Interface& interface);
  std::size_t count() const { return count_; }

 private:
  enum class State : std::uint8_t { incomplete, reachable, stale, probing };
  struct Held : ListLink<struct HeldTag> {
    explicit Held(HeapBlocks& blocks) : payload(blocks) {}
    Outgoing packet;
    ByteChain payload;
    FrameKind kind{};
  };
  struct Neighbour : ListLink<struct BucketTag>, ListLink<struct UseTag> {
    Neighbour(Interface& on, const IpAddress& whose) : interface(on), address(whose) {}
    Interface& interface;
    IpAddress address;
    HardwareAddress hardware{};
    State state = State::incomplete;
    std::uint8_t asks_left = InternetSettings::asks, held_count = 0;
    Nanoseconds next_step = forever;
    IntrusiveList<Held, HeldTag> held;
  };
  using Bucket = IntrusiveList<Neighbour, BucketTag>;

  void expired(Nanoseconds now) override;
  Bucket& bucket_of(const IpAddress& address);
  Neighbour* find(const Interface& interface, const IpAddress& address);
  Neighbour* create(Interface& interface, const IpAddress& address);
  bool make_room();
  void hold(Neighbour& neighbour, FrameKind kind, const Outgoing& packet);
  void drop_held(Neighbour& neighbour, Held& held);
  void send_held(Neighbour& neighbour);
  void ask(Neighbour& neighbour, Nanoseconds now);
  void wait_until(Neighbour& neighbour, Nanoseconds time);
  static void become_stale(Neighbour& neighbour) {
    neighbour.state = State::stale;
    neighbour.next_step = forever;
  }
  void give_up(Neighbour& neighbour);
  void remove(Neighbour& neighbour);

  Surroundings& around_;
  NeighbourCounters& counters_ = around_.counters.neighbours;
  std::uint64_t secret_ = 0;
  std::size_t count_ = 0;
  std::array<Bucket, 64> buckets_;
  IntrusiveList<Neighbour, UseTag> by_age_;  // the newest last
};

}  // namespace ingot::os::network
