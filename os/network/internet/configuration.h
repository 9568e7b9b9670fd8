// Configuration: what an interface is to have, as somebody wrote it down, or what it has got, as a listener is told.
#pragma once

#include <cstdint>

#include "os/network/address.h"
#include "os/network/internet/bounded_list.h"
#include "os/network/internet/settings.h"
#include "os/network/link.h"

namespace ingot::os::network {

struct AddressWithPrefix {
  IpAddress address;
  std::uint8_t prefix_bits = 0;  // 0 to 32, or to 128

  constexpr bool operator==(const AddressWithPrefix&) const = default;
};

struct Configuration {
  BoundedList<AddressWithPrefix, InternetSettings::addresses> addresses;
  BoundedList<IpAddress, InternetSettings::default_routers> gateways;
  BoundedList<IpAddress, InternetSettings::name_servers> name_servers;
  std::uint16_t mtu = 0;     // 0: the link's
  bool asks_dhcp = false;    // for IPv4
  bool asks_routers = true;  // for IPv6 (SLAAC)

  bool operator==(const Configuration&) const = default;
};

// Told at the end of a call into the stack, under the network's lock.
class ConfigurationEvents {
 public:
  virtual void configured(Link& link, const Configuration& now) = 0;
  // Somebody else has the address: it is not used, or not any more.
  virtual void address_taken(Link& link, const IpAddress& address) = 0;

 protected:
  ~ConfigurationEvents() = default;
};

}  // namespace ingot::os::network
