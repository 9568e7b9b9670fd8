// Flow: the two ends of a conversation, as a key of tables and of numbers that strangers must not guess.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/siphash.h"
#include "os/network/address.h"
#include "os/network/machine.h"

namespace ingot::os::network {

struct Flow {
  Endpoint local, remote;

  constexpr bool operator==(const Flow&) const = default;
  std::uint64_t hash(const SipHashKey& key) const { return siphash(key, std::as_bytes(std::span(this, 1))); }
};
static_assert(sizeof(Flow) == 36, "its bytes are hashed, so it has no gaps");

// As on Linux, who sends to no address sends to this machine.
constexpr IpAddress or_loopback(const IpAddress& address) {
  if (!address.is_unspecified()) return address;
  return address.is_v4() ? IpAddress::v4(127, 0, 0, 1)
                         : IpAddress(IpAddress::V6{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1});
}

inline SipHashKey draw_key(Machine& machine) {
  SipHashKey key;
  machine.fill_random(std::as_writable_bytes(std::span(&key, 1)));
  return key;
}

}  // namespace ingot::os::network
