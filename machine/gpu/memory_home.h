// MemoryHome: where somebody keeps what he remembers, the host's memory or a device's.
#pragma once

#include "machine/gpu/device.h"
#include "machine/memory.h"

namespace ingot {

// Memory at one of the two. Only a home may read or write it, unless it is the host's.
class HomeMemory {
 public:
  HomeMemory() = default;
  explicit HomeMemory(Memory memory) : host_(std::move(memory)) {}
  explicit HomeMemory(DeviceMemory memory) : device_(std::move(memory)) {}
  explicit HomeMemory(std::unique_ptr<AddressRange> range) : range_(std::move(range)) {}

  std::byte* data() const {
    if (range_ != nullptr) return range_->data();
    return host_.data() != nullptr ? host_.data() : device_.data();
  }
  // What of it takes memory, as far as that is known: the host's operating system gives it at the first touch.
  std::size_t size() const { return host_.size() + device_.size() + (range_ == nullptr ? 0 : range_->size()); }
  std::size_t capacity() const { return range_ == nullptr ? size() : range_->capacity(); }
  // Where it was reserved and not allocated: the first `bytes` can be used from now on.
  Result<void> grow_to(std::size_t bytes) { return range_ == nullptr ? Result<void>() : range_->grow_to(bytes); }

 private:
  Memory host_;
  DeviceMemory device_;
  std::unique_ptr<AddressRange> range_;
};

class MemoryHome {
 public:
  MemoryHome() = default;  // the host
  // Both must outlive the home and its memory. What is done to memory takes its turn among the queue's work.
  MemoryHome(Device& device, Queue& queue) : device_(&device), queue_(&queue) {}

  bool is_host() const { return device_ == nullptr; }
  Result<HomeMemory> allocate(Bytes bytes) const {
    if (is_host()) return HomeMemory(TRY(Memory::allocate(bytes)));
    return HomeMemory(TRY(device_->allocate(bytes.count())));
  }
  // Memory that is taken as it is used: see HomeMemory::grow_to().
  Result<HomeMemory> reserve(Bytes bytes) const {
    if (is_host() || bytes.count() == 0) return allocate(bytes);
    return HomeMemory(TRY(device_->reserve(bytes.count())));
  }
  void copy(std::byte* to, const std::byte* from, std::size_t bytes) const {
    if (is_host()) {
      std::memcpy(to, from, bytes);
    } else {
      queue_->copy_within(to, from, bytes);
    }
  }
  void clear(std::byte* data, std::size_t bytes) const {
    if (is_host()) {
      std::memset(data, 0, bytes);
    } else {
      queue_->fill(data, 0, bytes);
    }
  }

 private:
  Device* device_ = nullptr;
  Queue* queue_ = nullptr;
};

}  // namespace ingot
