// AddressKeeper: what belongs to our interfaces for a time. It probes addresses before they are used and defends them
// (RFC 5227, RFC 4862 5.4), and takes away what has lived its time.
#pragma once

#include "os/network/internet/surroundings.h"

namespace ingot::os::network {

class AddressKeeper final : NetworkTimer {
 public:
  explicit AddressKeeper(Surroundings& around) : around_(around) {}
  ~AddressKeeper() { around_.timers.clear(*this); }

  // It is probed, and ours when nobody has answered. One that we have keeps its state and gets the new lifetimes.
  // False: there are as many as there can be.
  bool add(Interface& interface, const OwnAddress& own, Nanoseconds now);
  // The same for a way; one without life left goes. Those that routers told are few, so that others find room.
  void add(Interface& interface, const PrefixRoute& route, Nanoseconds now);
  void add(Interface& interface, const NameServer& server, Nanoseconds now);
  void forget(Interface& interface, Origin origin, IpVersion version);
  // Others may be on the link now: its addresses are probed again.
  void link_came_up(Interface& interface, Nanoseconds now);
  // Somebody else uses the address, or asks whether it may.
  void conflict(Interface& interface, const IpAddress& address, Nanoseconds now);

 private:
  void expired(Nanoseconds now) override;
  static void begin_probing(OwnAddress& own, Nanoseconds now);
  void step(Interface& interface, OwnAddress& own, Nanoseconds now);
  void expire(Interface& interface, Nanoseconds now);
  void wait(const Interface& interface);
  void lose(Interface& interface, const IpAddress& address);

  Surroundings& around_;
};

}  // namespace ingot::os::network
