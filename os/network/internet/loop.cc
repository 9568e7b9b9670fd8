#include "os/network/internet/loop.h"

#include <cstring>

namespace ingot::os::network {

Answer<void> LoopLink::copy(const Outgoing& packet, ByteChain& to) {
  Reference<Block> headers = TRY(around_.machine.blocks().create(packet.header().size()));
  const std::span<std::byte> room = headers->bytes();
  std::memcpy(room.data(), packet.header().data(), room.size());
  TRY(to.add(std::move(headers), room));
  Answer<void> added;
  if (packet.payload_bytes == 0) return added;
  packet.chain->visit(packet.payload_begin, packet.payload_bytes, [&](Block& block, std::span<std::byte> part) {
    if (added.ok()) added = to.add(Reference<Block>(block), part);
  });
  return added;
}

bool LoopLink::send(const Outgoing& packet) {
  if (count_ == InternetSettings::looped_packets) {
    ++counters_.refused;
    refused_ = true;
    return false;
  }
  ByteChain bytes(around_.machine.blocks());
  Waiting* const waiting =
      copy(packet, bytes).ok() ? around_.machine.blocks().make<Waiting>(std::move(bytes)) : nullptr;
  ++(waiting != nullptr ? counters_.sent : counters_.no_memory);  // lost, as on any other link
  if (waiting == nullptr) return true;
  waiting_.push_back(*waiting);
  ++count_;
  return true;
}

void LoopLink::remove(Waiting& waiting) {
  waiting_.remove(waiting);
  --count_;
  around_.machine.blocks().destroy(waiting);
}

}  // namespace ingot::os::network
