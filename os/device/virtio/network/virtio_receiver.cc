#include "os/device/virtio/network/virtio_receiver.h"

#include <cstring>

namespace ingot::os {

namespace {

network::Block& block_of(std::uint64_t token) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): what offer() handed to the queue
  return *reinterpret_cast<network::Block*>(token);
}

}  // namespace

VirtioReceiver::~VirtioReceiver() {
  queue_memory_.queue().abandon([](std::uint64_t token) { block_of(token).drop_reference(); });
}

Result<void> VirtioReceiver::prepare(std::uint16_t capacity) {
  const auto no_packet = [&] { return network::Received(network::ByteChain(heap_blocks_)); };
  TRY(packets_.allocate(memory_.heap, most_packets, no_packet));
  TRY(queue_memory_.begin(memory_, capacity, VirtioQueue::most_entries, settings_.has(virtio_event_index)));
  while (queue_memory_.queue().free_pieces() != 0) {
    if (!offer(blocks_.create())) {
      return Error::of(ErrorCode::out_of_memory, "expected memory for ", queue_memory_.entries(),
                       " packets, found too little");
    }
  }
  return {};
}

bool VirtioReceiver::offer(Reference<network::Block> block) {
  if (!block) return false;
  const std::span<std::byte> bytes = block->bytes();
  const VirtioPiece piece[] = {{memory_.window.physical(bytes.data()), static_cast<std::uint32_t>(bytes.size())}};
  if (!queue_memory_.queue().add({}, piece, reinterpret_cast<std::uint64_t>(block.get()))) return false;
  static_cast<void>(block.leak());  // the queue's
  return true;
}

std::span<network::Received> VirtioReceiver::take() {
  std::size_t count = 0;
  while (count < most_packets) {
    network::Received& packet = packets_.all()[count];
    if (!take_packet(packet)) break;
    if (!packet.bytes.is_empty()) ++count;
  }
  publish();
  return packets_.all().first(count);
}

// The rest of a packet is there when its first part is: the device shows them together.
bool VirtioReceiver::take_packet(network::Received& packet) {
  using namespace virtio_network;
  VirtioQueue& queue = queue_memory_.queue();
  std::optional<VirtioQueue::Used> used = queue.take();
  if (!used) return false;
  VirtioNetworkHeader header;  // one look: the device may still write there
  std::memcpy(&header, block_of(used->token).bytes().data(), sizeof header);
  const unsigned parts = settings_.has(merged_buffers) ? header.buffers : 1;
  bool is_whole = take_part(packet, *used, sizeof header) && parts >= 1 && parts <= most_parts;
  for (unsigned part = 1; part < parts; ++part) {
    used = queue.take();
    if (!used) {
      is_whole = false;
      break;
    }
    is_whole = take_part(packet, *used, 0) && is_whole;
  }
  if (!is_whole || packet.bytes.is_empty()) {
    packet.bytes.clear();
    ++dropped_;
  }
  constexpr unsigned looked_at = VirtioNetworkHeader::needs_checksum | VirtioNetworkHeader::checksum_valid;
  packet.transport_verified = settings_.has(guest_checksum) && (header.flags & looked_at) != 0;
  const bool is_joined = (header.segmentation & ~VirtioNetworkHeader::congestion) != VirtioNetworkHeader::whole;
  const bool may_join = settings_.has(guest_segments_v4 | guest_segments_v6);
  packet.segment_bytes = is_joined && may_join ? header.segment_bytes : std::uint16_t{0};
  return true;
}

bool VirtioReceiver::take_part(network::Received& packet, const VirtioQueue::Used& used, std::size_t skipped) {
  auto filled = Reference<network::Block>::adopt(block_of(used.token));
  Reference<network::Block> fresh = blocks_.create();
  if (!fresh || used.bytes < skipped) {
    offer(std::move(filled));
    return false;
  }
  offer(std::move(fresh));
  const std::span<std::byte> part = filled->bytes().first(used.bytes).subspan(skipped);
  return packet.bytes.add(std::move(filled), part).ok();
}

}  // namespace ingot::os
