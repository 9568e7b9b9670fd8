// Link: what carries packets to the machines next door: a driver's, the loop back to ourselves, a test's. It knows
// nothing of what is in them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "os/network/packet.h"
#include "os/network/wire/headers.h"

namespace ingot::os::network {

class Link;

// Whom a link tells. The kernel's takes the network's lock once for each call, so links hand over what came together.
class LinkUser {
 public:
  // The packets are taken: what is left of them is empty.
  virtual void received(Link& link, std::span<Received> packets) = 0;
  // There is room again after send() refused; or the link came up or went down.
  virtual void link_changed(Link& link) = 0;

 protected:
  ~LinkUser() = default;
};

struct LinkProperties {
  std::string_view name;    // "eth0", "lo"
  bool is_ethernet = true;  // else its packets begin with IP's header
  HardwareAddress address{};
  std::uint16_t mtu = 1500;  // of IP's packets
  // What the device does of what it is given: the transport's checksum; cutting TCP's segments, by IP's version.
  bool computes_checksums = false, cuts_v4 = false, cuts_v6 = false;
};

class Link {
 public:
  virtual const LinkProperties& properties() const = 0;
  virtual bool is_up() const = 0;
  // Headers are copied; of the chain's blocks, the link holds references until it is done with them. False: no room
  // now, or it is down; nothing was sent, and the user hears link_changed when there is room.
  virtual bool send(const Outgoing& packet) = 0;
  // After the last send of several: the device is told now.
  virtual void flush() = 0;

 protected:
  ~Link() = default;
};

}  // namespace ingot::os::network
