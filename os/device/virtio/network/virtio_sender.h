// VirtioSender: a sending queue of a card. Headers are copied beside the ring, payload is sent from where it lies and
// held until the device has read it. What was read is given back when room is wanted, or somebody looks; the device
// interrupts for it only where somebody waits for room.
#pragma once

#include <array>
#include <cstdint>

#include "os/device/virtio/network/heap_array.h"
#include "os/device/virtio/network/virtio_network_settings.h"
#include "os/network/packet.h"

namespace ingot::os {

// It is no lock.
class VirtioSender {
 public:
  static constexpr std::uint16_t most_frames = 128;  // on their way
  static constexpr std::uint16_t most_parts = 18;    // of a payload: 64 KiB in pages, however they begin

  VirtioSender(const VirtioMemory& memory, const VirtioNetworkSettings& settings, network::HeapBlocks& heap_blocks)
      : memory_(memory), settings_(settings), heap_blocks_(heap_blocks) {}
  VirtioSender(const VirtioSender&) = delete;
  VirtioSender& operator=(const VirtioSender&) = delete;

  // Once.
  Result<void> prepare(std::uint16_t capacity);
  // For the device to enable.
  VirtioQueueMemory& memory() { return queue_memory_; }

  // False: there is no room, and reclaim() will say when there is. What there is no memory for is lost. The device sees
  // it at the next flush.
  bool send(const network::Outgoing& packet);
  void flush() { queue_memory_.publish(); }
  // Gives back what the device has read. True: send() refused something, and may now be asked again.
  bool reclaim();
  // Precondition: the device is stopped. Nothing is sent any more.
  void abandon();

  VirtioFault fault() { return queue_memory_.queue().fault(); }
  std::uint64_t dropped() const { return dropped_; }

 private:
  struct Frame {
    VirtioNetworkHeader card;
    std::array<std::byte, network::Outgoing::header_capacity> headers;
    std::array<Reference<network::Block>, most_parts> blocks;
    std::uint16_t next = 0;  // free: the next free one
  };
  using Pieces = std::array<VirtioPiece, most_parts + 1>;

  void take_used();
  // False: there is none, and the device interrupts when there may be.
  bool find_room();
  static VirtioNetworkHeader header_of(const network::Outgoing& packet);
  // How many pieces the frame takes; 0: there is no memory.
  std::size_t fill(Frame& frame, const network::Outgoing& packet, Pieces& pieces);
  bool gather(Frame& frame, const network::Outgoing& packet, VirtioPiece& piece);
  VirtioPiece piece_of(std::span<const std::byte> bytes) const {
    return {memory_.window.physical(bytes.data()), static_cast<std::uint32_t>(bytes.size())};
  }
  void free_frame(std::uint16_t index);

  VirtioMemory memory_;
  const VirtioNetworkSettings& settings_;
  network::HeapBlocks& heap_blocks_;
  VirtioQueueMemory queue_memory_;
  HeapArray<Frame> frames_;
  std::uint16_t first_free_ = 0;
  std::uint16_t parts_ = 0;  // that a payload may have in this queue
  bool refused_ = false;
  std::uint64_t dropped_ = 0;
};

}  // namespace ingot::os
