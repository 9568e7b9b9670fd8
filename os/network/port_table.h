// PortTable: who is bound to which local address and port, by Linux's rules; one for TCP, one for UDP. A socket has a
// Binding; connections, which may be many, share one for each address, port and kind of sharing.
#pragma once

#include <array>
#include <cstdint>

#include "os/file/hash_table.h"
#include "os/network/flow.h"
#include "os/network/transport.h"

namespace ingot::os::network {

// SO_REUSEADDR, SO_REUSEPORT: with whom a port is shared. Both sides must want it; who listens shares by the second
// alone.
struct PortSharing {
  bool address = false, port = false;

  constexpr bool operator==(const PortSharing&) const = default;
};

class Binding : public HashLink<struct PortTag> {
 public:
  explicit Binding(IpVersion version) : version_(version) {}

  bool is_bound() const { return local_.port != 0; }
  bool listens() const { return listens_; }
  // :: is every address, 0.0.0.0 every one of IPv4.
  const Endpoint& local() const { return local_; }
  // What it is bound to where nothing is said.
  IpAddress any_address() const { return version_ == IpVersion::v4 ? IpAddress::v4(0, 0, 0, 0) : IpAddress(); }
  // How well what is sent to this address fits: to all, to all of its version, to the very address. 0: not at all.
  int fit(const IpAddress& address) const;
  // Whether it may send from its own address to that one.
  bool may_reach(const IpAddress& remote) const;

  PortSharing sharing;
  bool v6_only = false;  // :: is no address of IPv4's then

 private:
  friend class PortTable;
  bool overlaps(const Binding& other) const;
  bool conflicts_with(const Binding& other) const;

  const IpVersion version_;
  Endpoint local_;
  bool listens_ = false;
  std::uint32_t flows_ = 0;  // of those that connections share: how many
};

class PortTable {
 public:
  static constexpr std::uint16_t first_ephemeral = 32768, last_ephemeral = 60999;

  PortTable(Machine& machine, Internet& internet);

  // Port 0: one that nobody has. EADDRINUSE; EADDRNOTAVAIL: the address is not ours; EINVAL: it is bound already.
  Answer<void> bind(Binding& binding, const Endpoint& local);
  // Connecting to somebody decides which of our addresses a wildcard is; a dissolved connection takes it back.
  void set_address(Binding& binding, const IpAddress& address) { binding.local_.address = address; }
  void release(Binding& binding);
  // The other has its place from now on.
  void hand_over(Binding& from, Binding& to);
  // The same, where it does not listen any more.
  void take_back(Binding& from, Binding& to) {
    from.listens_ = false;
    hand_over(from, to);
  }
  // Others may be bound to the same, but only one listens where they do not share the port. EADDRINUSE.
  Answer<void> listen(Binding& binding);

  // A connection begins or ends to use the port. Precondition of the second: as the first was called.
  Answer<void> add_flow(const Endpoint& local, PortSharing sharing);
  void drop_flow(const Endpoint& local, PortSharing sharing);

  // A local port for a connection: RFC 6056's algorithm 4, so that nobody guesses the next and none comes again soon.
  // usable(port) says whether the flow is free. EADDRNOTAVAIL: none is.
  template <class Usable>
  Answer<std::uint16_t> choose(const IpAddress& from, const Endpoint& remote, Usable&& usable) {
    const std::uint64_t hash = Flow{{from, 0}, remote}.hash(key_);
    std::uint32_t& next = next_[hash >> 32 & (next_.size() - 1)];
    for (std::uint32_t i = 0; i < ephemeral_count; ++i) {
      const std::uint16_t port = ephemeral(static_cast<std::uint32_t>(hash) + next++);
      if (!is_bound_to(port) && usable(port)) return port;
    }
    return Errno::eaddrnotavail;
  }

  // The binding with the highest score(binding) for this port, of those above 0; where several that share the port are
  // equal, `spread` chooses among them.
  template <class Score>
  Binding* find(std::uint16_t port, std::uint32_t spread, Score&& score) {
    Binding* best = nullptr;
    int best_score = 0;
    std::uint32_t equal = 0;
    visit(port, [&](Binding& binding) {
      const int here = score(binding);
      if (here <= 0 || here < best_score || (here == best_score && !binding.sharing.port)) return;
      equal = here > best_score ? 1 : equal + 1;
      best_score = here;
      // The n-th of equals takes one in n of what the earlier ones had: each has the same share in the end.
      spread = mixed(spread);
      if (std::uint64_t{spread} * equal >> 32 == 0) best = &binding;
    });
    return best;
  }
  template <class Use>
  void visit(std::uint16_t port, Use&& use) {
    bindings_.find(port, [&](Binding& binding) {
      use(binding);
      return false;
    });
  }
  template <class Use>
  void visit_all(Use&& use) {
    bindings_.visit(use);
  }

 private:
  static constexpr std::uint32_t ephemeral_count = last_ephemeral - first_ephemeral + 1;
  static std::uint16_t ephemeral(std::uint32_t number) {
    return static_cast<std::uint16_t>(first_ephemeral + number % ephemeral_count);
  }
  static std::uint32_t mixed(std::uint32_t number) { return number * 0x9e37'79b1 ^ number >> 15; }

  bool is_bound_to(std::uint16_t port);
  Binding* find_conflict(const Binding& binding);
  Binding* find_flows(const Endpoint& local, PortSharing sharing);

  Machine& machine_;
  Internet& internet_;
  SipHashKey key_;
  std::array<std::uint32_t, 64> next_;  // the second hash's: how far each class of remote ends has come
  HashTable<Binding, PortTag> bindings_;
};

}  // namespace ingot::os::network
