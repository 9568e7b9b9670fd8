// Routes: our interfaces, which addresses are ours, and how a packet gets to an address: by which link, from which
// address of ours (RFC 6724), to which neighbour, how long it may be.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "os/network/internet/interface.h"
#include "os/network/timers.h"
#include "os/network/transport.h"

namespace ingot::os::network {

class Routes final : NetworkTimer {
 public:
  explicit Routes(NetworkTimers& timers) : timers_(timers) {}
  ~Routes() { timers_.clear(*this); }

  // The first is the loop. nullptr: there are as many as there can be.
  Interface* add(Link& link);
  // nullptr: not one of ours.
  Interface* find(const Link* link);
  Interface& loop() { return *interfaces_[0]; }
  template <class Use>
  void for_each(Use&& use) {
    for (std::optional<Interface>& interface : interfaces_) {
      if (interface) use(*interface);
    }
  }

  Answer<Route> find(const IpAddress& to, const IpAddress& from) const;
  std::uint32_t version() const { return version_; }
  // Whoever changes an interface says so.
  void changed(Interface& interface) {
    interface.is_changed = true;
    ++version_;
  }

  // An address of one machine, which is us.
  bool is_own(const IpAddress& address) const { return address.is_loopback() || owner_of(address) != nullptr; }
  // The same, and nobody can have it beside us.
  bool is_settled(const IpAddress& address) const;
  // An address that many share, and that we listen to on this interface.
  bool is_shared(const Interface& interface, const IpAddress& address) const;
  bool is_ours(const IpAddress& address) const;
  // Which address of ours packets to `to` leave by. nullptr: none of its version.
  static const OwnAddress* source_for(const Interface& interface, const IpAddress& to);

  // Somebody on the way says how much fits. False: it is no news.
  bool path_shrank(const IpAddress& to, std::uint16_t mtu, Nanoseconds now);

 private:
  struct Path {
    IpAddress to;
    std::uint16_t mtu = 0;
    Nanoseconds until;
  };
  struct Way {
    const Interface* interface = nullptr;
    const PrefixRoute* route = nullptr;
  };

  void expired(Nanoseconds now) override;
  // nullptr: nobody's, or one that is not used yet.
  const Interface* owner_of(const IpAddress& address) const;
  // To many on a link: that of `from`, else the first that has a source for it.
  const Interface* interface_for_many(const IpAddress& to, const IpAddress& from) const;
  Way best_way(const IpAddress& to, const IpAddress& from) const;
  Answer<Route> route_by(const Interface& interface, const IpAddress& to, const IpAddress& from,
                         const IpAddress& next_hop) const;

  NetworkTimers& timers_;
  std::array<std::optional<Interface>, InternetSettings::links + 1> interfaces_;
  BoundedList<Path, InternetSettings::paths> paths_;
  std::uint32_t version_ = 1;
};

}  // namespace ingot::os::network
