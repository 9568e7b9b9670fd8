// The device's side of a queue, as tests play it: honest, or by writing anything anywhere in the ring.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "os/device/virtio/virtio_queue.h"

namespace ingot::os {

class FakeVirtioRing {
 public:
  struct Descriptor {
    std::uint64_t address;
    std::uint32_t bytes;
    std::uint16_t flags, next;
  };

  FakeVirtioRing() = default;
  FakeVirtioRing(std::byte* memory, std::uint16_t entries, bool event_index = true)
      : memory_(memory), entries_(entries), event_index_(event_index) {}

  // The head of the next chain that the driver published.
  std::optional<std::uint16_t> next_chain() {
    if (seen_ == number(available + 2).load(MemoryOrder::acquire)) return std::nullopt;
    return number(available + 4 + 2 * (seen_++ % entries_)).load(MemoryOrder::relaxed);
  }
  std::vector<Descriptor> chain(std::uint16_t head) const {
    std::vector<Descriptor> all;
    for (bool more = true; more && all.size() <= entries_; head = all.back().next) {
      Descriptor each;
      std::memcpy(&each, memory_ + sizeof each * head, sizeof each);
      all.push_back(each);
      more = (each.flags & 1) != 0;
    }
    return all;
  }
  // Writes the entry; show() tells the driver.
  void put(std::uint32_t chain, std::uint32_t bytes) {
    const std::size_t entry = used + 4 + 8 * (used_ % entries_);
    word(entry).store(chain, MemoryOrder::relaxed);
    word(entry + 4).store(bytes, MemoryOrder::relaxed);
    ++used_;
  }
  // Whether the driver wants an interrupt for what was put since the last time.
  bool show() {
    const std::uint16_t before = shown_;
    shown_ = used_;
    number(used + 2).store(shown_, MemoryOrder::release);
    atomic_fence(MemoryOrder::sequentially_consistent);
    if (!event_index_) return (number(available).load(MemoryOrder::relaxed) & 1) == 0;
    const std::uint16_t wanted = number(available + 4 + 2u * entries_).load(MemoryOrder::relaxed);
    return static_cast<std::uint16_t>(shown_ - wanted - 1) < static_cast<std::uint16_t>(shown_ - before);
  }
  bool use(std::uint32_t chain, std::uint32_t bytes) {
    put(chain, bytes);
    return show();
  }
  // From which chain on it wants to hear of new ones.
  void wish(std::uint16_t chain) { number(used + 4 + 8u * entries_).store(chain, MemoryOrder::relaxed); }
  void set_used_flags(std::uint16_t flags) { number(used).store(flags, MemoryOrder::relaxed); }
  void set_used_index(std::uint16_t index) { number(used + 2).store(index, MemoryOrder::relaxed); }
  std::uint16_t seen() const { return seen_; }
  std::byte* memory() const { return memory_; }

 private:
  static constexpr std::size_t available = VirtioQueue::available_at, used = VirtioQueue::used_at;
  Atomic<std::uint16_t>& number(std::size_t at) { return *reinterpret_cast<Atomic<std::uint16_t>*>(memory_ + at); }
  Atomic<std::uint32_t>& word(std::size_t at) { return *reinterpret_cast<Atomic<std::uint32_t>*>(memory_ + at); }

  std::byte* memory_ = nullptr;
  std::uint16_t entries_ = 0;
  bool event_index_ = true;
  std::uint16_t seen_ = 0, used_ = 0, shown_ = 0;
};

}  // namespace ingot::os
