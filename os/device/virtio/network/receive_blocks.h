// ReceiveBlocks: memory for a device to receive into: blocks of a frame each.
#pragma once

#include <utility>

#include "os/device/virtio/virtio_queue_memory.h"
#include "os/network/block.h"

namespace ingot::os {

class ReceiveBlocks final : public network::Block::Owner {
 public:
  static constexpr std::uint32_t block_bytes = page_bytes;

  explicit ReceiveBlocks(const VirtioMemory& memory) : memory_(memory) {}
  ReceiveBlocks(const ReceiveBlocks&) = delete;  // blocks point here
  ReceiveBlocks& operator=(const ReceiveBlocks&) = delete;

  // Nothing: there is no memory.
  Reference<network::Block> create() {
    const Result<FrameNumber> frame = memory_.frames.allocate(page_order);
    if (!frame.ok()) return nullptr;
    const std::span bytes(memory_.window.at<std::byte>(frame.value()), block_bytes);
    auto block = make_reference<network::Block>(memory_.heap, bytes, *this);
    if (block.ok()) return std::move(block).value();
    take_back(bytes);
    return nullptr;
  }
  void take_back(std::span<std::byte> bytes) override {
    memory_.frames.release(FrameNumber::containing(memory_.window.physical(bytes.data())), page_order);
  }

 private:
  VirtioMemory memory_;
};

}  // namespace ingot::os
