// VirtioReceiver: the receiving queue of a card. It is always full of buffers: one that comes back is replaced before
// its content goes on, and where there is no memory for that, the packet is dropped and its buffer used again.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "os/device/virtio/network/heap_array.h"
#include "os/device/virtio/network/receive_blocks.h"
#include "os/device/virtio/network/virtio_network_settings.h"
#include "os/network/packet.h"

namespace ingot::os {

// Of one thread.
class VirtioReceiver {
 public:
  static constexpr std::size_t most_packets = 32;  // handed over at once
  static constexpr unsigned most_parts = 64;       // of a packet

  VirtioReceiver(const VirtioMemory& memory, const VirtioNetworkSettings& settings, network::HeapBlocks& heap_blocks)
      : memory_(memory), settings_(settings), heap_blocks_(heap_blocks), blocks_(memory) {}
  VirtioReceiver(const VirtioReceiver&) = delete;
  VirtioReceiver& operator=(const VirtioReceiver&) = delete;
  // Precondition: the device is stopped, or never knew.
  ~VirtioReceiver();

  // Once: all buffers.
  Result<void> prepare(std::uint16_t capacity);
  // For the device to enable.
  VirtioQueueMemory& memory() { return queue_memory_; }
  // The device learns of new buffers; at the start, of all. One that has room, and not for the packet that it holds,
  // waits as well.
  void publish() { queue_memory_.publish(64 * 1024 / ReceiveBlocks::block_bytes + 1); }

  // What came, as far as it fits. Precondition: those of the call before are empty.
  std::span<network::Received> take();
  // Asks for an interrupt. False: more came meanwhile.
  [[nodiscard]] bool await() { return queue_memory_.queue().await(); }

  VirtioFault fault() { return queue_memory_.queue().fault(); }
  std::uint64_t dropped() const { return dropped_; }

 private:
  // False: nothing came.
  bool take_packet(network::Received& packet);
  bool take_part(network::Received& packet, const VirtioQueue::Used& used, std::size_t skipped);
  bool offer(Reference<network::Block> block);

  VirtioMemory memory_;
  const VirtioNetworkSettings& settings_;
  network::HeapBlocks& heap_blocks_;
  ReceiveBlocks blocks_;
  VirtioQueueMemory queue_memory_;
  HeapArray<network::Received> packets_;
  std::uint64_t dropped_ = 0;
};

}  // namespace ingot::os
