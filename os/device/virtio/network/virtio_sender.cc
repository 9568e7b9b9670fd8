#include "os/device/virtio/network/virtio_sender.h"

#include <algorithm>
#include <cstring>

namespace ingot::os {

Result<void> VirtioSender::prepare(std::uint16_t capacity) {
  TRY(queue_memory_.begin(memory_, capacity, VirtioQueue::most_entries, settings_.has(virtio_event_index)));
  if (queue_memory_.entries() < 2) {
    return Error::of(ErrorCode::unsupported, "expected a queue with room for headers and payload, found one entry");
  }
  parts_ = std::min(most_parts, static_cast<std::uint16_t>(queue_memory_.entries() - 1));
  TRY(frames_.allocate(memory_.heap, most_frames, [] { return Frame(); }));
  for (std::uint16_t index = 0; index < most_frames; ++index) {
    frames_.all()[index].next = static_cast<std::uint16_t>(index + 1);
  }
  queue_memory_.queue().do_not_interrupt();
  return {};
}

void VirtioSender::free_frame(std::uint16_t index) {
  Frame& frame = frames_.all()[index];
  for (auto& block : frame.blocks) {
    if (!block) break;  // they are filled from the first on
    block.reset();
  }
  frame.next = std::exchange(first_free_, index);
}

void VirtioSender::take_used() {
  while (const auto used = queue_memory_.queue().take()) free_frame(static_cast<std::uint16_t>(used->token));
}

bool VirtioSender::find_room() {
  VirtioQueue& queue = queue_memory_.queue();
  take_used();
  while (first_free_ == most_frames || queue.free_pieces() <= parts_) {
    // Whatever it asked for, the device is told: one that missed what was published would leave the ring full for ever.
    static_cast<void>(queue.publish());
    queue_memory_.doorbell.ring();
    // Once half of what is under way was read, it is worth to be told.
    if (queue.await(static_cast<std::uint16_t>(queue.in_flight() / 2 + 1))) return false;
    take_used();
  }
  return true;
}

bool VirtioSender::reclaim() {
  if (!refused_) take_used();
  // What was given back may have been taken by others: then the device is asked anew.
  if (!refused_ || !find_room()) return false;
  refused_ = false;
  queue_memory_.queue().do_not_interrupt();
  return true;
}

void VirtioSender::abandon() {
  queue_memory_.queue().abandon([&](std::uint64_t token) { free_frame(static_cast<std::uint16_t>(token)); });
}

bool VirtioSender::send(const network::Outgoing& packet) {
  if (!find_room()) {
    refused_ = true;
    return false;
  }
  const std::uint16_t index = first_free_;
  Frame& frame = frames_.all()[index];
  first_free_ = frame.next;
  Pieces pieces;
  const std::size_t count = fill(frame, packet, pieces);
  if (count != 0 && queue_memory_.queue().add(std::span(pieces).first(count), {}, index)) return true;
  free_frame(index);
  ++dropped_;
  return true;
}

VirtioNetworkHeader VirtioSender::header_of(const network::Outgoing& packet) {
  VirtioNetworkHeader header;
  const auto headers = packet.header();
  if (packet.checksum_from_end != 0) {
    header.flags = VirtioNetworkHeader::needs_checksum;
    header.checksum_begin = static_cast<std::uint16_t>(headers.size() - packet.checksum_from_end);
    header.checksum_offset = packet.checksum_field;
  }
  if (packet.segment_bytes != 0) {
    network::EthernetHeader ethernet;
    std::memcpy(&ethernet, headers.data(), sizeof ethernet);
    const bool is_v6 = ethernet.kind == static_cast<std::uint16_t>(network::FrameKind::ipv6);
    header.segmentation = is_v6 ? VirtioNetworkHeader::tcp_v6 : VirtioNetworkHeader::tcp_v4;
    header.segment_bytes = packet.segment_bytes;
    header.header_bytes = static_cast<std::uint16_t>(headers.size());
  }
  return header;
}

std::size_t VirtioSender::fill(Frame& frame, const network::Outgoing& packet, Pieces& pieces) {
  static_assert(offsetof(Frame, headers) == sizeof(VirtioNetworkHeader));  // one piece of memory
  const auto headers = packet.header();
  frame.card = header_of(packet);
  std::memcpy(frame.headers.data(), headers.data(), headers.size());
  const auto* begin = reinterpret_cast<const std::byte*>(&frame);
  pieces[0] = piece_of({begin, sizeof(VirtioNetworkHeader) + headers.size()});
  if (packet.payload_bytes == 0) return 1;
  std::size_t parts = 0;
  packet.chain->visit(packet.payload_begin, packet.payload_bytes,
                      [&](network::Block& block, std::span<std::byte> part) {
                        if (parts < parts_) {
                          frame.blocks[parts] = Reference<network::Block>(block);
                          pieces[parts + 1] = piece_of(part);
                        }
                        ++parts;
                      });
  if (parts <= parts_) return parts + 1;
  return gather(frame, packet, pieces[1]) ? 2 : 0;
}

// More parts than the device would take at once are copied together.
bool VirtioSender::gather(Frame& frame, const network::Outgoing& packet, VirtioPiece& piece) {
  for (auto& block : frame.blocks) block.reset();
  auto whole = heap_blocks_.create(packet.payload_bytes);
  if (!whole.ok()) return false;
  frame.blocks[0] = std::move(whole).value();
  const std::span<std::byte> bytes = frame.blocks[0]->bytes();
  packet.chain->copy_out(packet.payload_begin, bytes);
  piece = piece_of(bytes);
  return true;
}

}  // namespace ingot::os
