// VirtioQueueMemory: a queue, the frames that it works in, and the device's doorbell. The frames go back with it.
#pragma once

#include <algorithm>
#include <bit>

#include "base/result.h"
#include "os/device/virtio/virtio_queue.h"
#include "os/device/virtio/virtio_registers.h"
#include "os/memory/allocator.h"
#include "os/memory/frame_source.h"
#include "os/memory/physical_window.h"

namespace ingot::os {

// What a driver takes memory from.
struct VirtioMemory {
  FrameSource& frames;
  PhysicalWindow window;
  Allocator& heap;
};

// What a driver writes to tell the device of a queue's new chains.
struct VirtioDoorbell {
  VirtioRegisters* registers = nullptr;
  std::uint32_t offset = 0, bytes = 0, value = 0;

  void ring() const { registers->write(offset, bytes, value); }
};

class VirtioQueueMemory {
 public:
  VirtioQueueMemory() = default;
  VirtioQueueMemory(const VirtioQueueMemory&) = delete;
  VirtioQueueMemory& operator=(const VirtioQueueMemory&) = delete;
  // Precondition: the device uses them no more.
  ~VirtioQueueMemory() {
    if (frames_ != nullptr) frames_->release(first_, order);
  }

  // Once. As many entries as a device with this capacity takes, up to `wanted`: a power of two.
  Result<void> begin(const VirtioMemory& memory, std::uint16_t capacity, std::uint16_t wanted, bool event_index) {
    entries_ = std::bit_floor(std::min({capacity, wanted, VirtioQueue::most_entries}));
    if (entries_ == 0) return Error::of(ErrorCode::unsupported, "expected a queue of the device, found none");
    first_ = TRY(memory.frames.allocate(order));
    frames_ = &memory.frames;
    bytes_ = memory.window.at<std::byte>(first_);
    queue_.begin(bytes_, {reinterpret_cast<VirtioChain*>(bytes_ + chains_at), entries_}, event_index);
    return {};
  }
  VirtioQueue& queue() { return queue_; }
  // As VirtioQueue::publish; rings where it says so. Precondition: the device has enabled it.
  void publish(std::uint16_t few = 1) {
    if (queue_.publish(few)) doorbell.ring();
  }
  std::uint16_t entries() const { return entries_; }
  PhysicalAddress physical() const { return first_.address(); }

  // A page beside the rings, for what is asked in few bytes.
  std::byte* page() const { return bytes_ + page_at; }
  PhysicalAddress page_address() const { return physical() + page_at; }

  VirtioDoorbell doorbell;  // VirtioDevice::enable_queue says which

 private:
  static constexpr unsigned order = 2;
  static constexpr std::uint64_t chains_at = VirtioQueue::memory_bytes, page_at = chains_at + page_bytes;
  static_assert(page_at + page_bytes == page_bytes << order &&
                sizeof(VirtioChain) * VirtioQueue::most_entries <= page_bytes);

  FrameSource* frames_ = nullptr;
  FrameNumber first_;
  std::byte* bytes_ = nullptr;
  std::uint16_t entries_ = 0;
  VirtioQueue queue_;
};

}  // namespace ingot::os
