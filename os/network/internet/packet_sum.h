// Checksums over what lies in chains.
#pragma once

#include "os/network/byte_chain.h"
#include "os/network/packet.h"
#include "os/network/wire/checksum.h"

namespace ingot::os::network {

inline void add_to(Checksum& sum, const ByteChain& chain, std::uint64_t from, std::uint64_t count) {
  if (count == 0) return;
  chain.visit(from, count, [&](Block&, std::span<std::byte> part) { sum.add(part); });
}

// All of a packet that begins with its transport's header.
inline void add_to(Checksum& sum, const Outgoing& packet) {
  sum.add(packet.header());
  if (packet.payload_bytes != 0) add_to(sum, *packet.chain, packet.payload_begin, packet.payload_bytes);
}

}  // namespace ingot::os::network
