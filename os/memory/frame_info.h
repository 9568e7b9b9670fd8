// What the kernel knows of each frame, in 8 bytes: who uses it, who has pinned it for a device, and how many frames
// were allocated together with it.
#pragma once

#include <cstdint>

#include "base/atomic.h"
#include "os/memory/address.h"

namespace ingot::os {

// Only the first frame of an allocation, its head, carries counts; the words of the others are 0. The counts share one
// word, so that the one who drops the last of either kind knows it, on any CPU and without a lock.
class FrameInfo {
 public:
  std::uint32_t references() const { return static_cast<std::uint32_t>(word()); }
  std::uint32_t pins() const { return static_cast<std::uint32_t>(word() >> pin_shift) & 0xffff; }
  unsigned order() const { return static_cast<unsigned>(word() >> order_shift) & 0xff; }
  bool allocated() const { return (word() >> allocated_shift) != 0; }

  // By the allocator and its caches, who own the frame at that moment.
  void mark_allocated(unsigned order, std::uint32_t references) {
    word_.store((std::uint64_t{1} << allocated_shift) | (std::uint64_t{order} << order_shift) | references,
                MemoryOrder::relaxed);
  }
  void mark_free() { word_.store(0, MemoryOrder::relaxed); }

  // Precondition: the caller holds a reference.
  void add_references(std::uint32_t count) { word_.fetch_add(count, MemoryOrder::relaxed); }
  // A pinned frame keeps its place and its content although nobody references it any more: a device may still write.
  // False when it has as many pins as it can count.
  [[nodiscard]] bool add_pin() {
    if ((word_.fetch_add(one_pin, MemoryOrder::relaxed) >> pin_shift & 0xffff) != most_pins) return true;
    word_.fetch_subtract(one_pin, MemoryOrder::relaxed);
    return false;
  }

  // The common end of a frame's life, without an atomic exchange: the caller's reference is the only one to a single
  // frame, so nobody else can be counting. False leaves everything to drop_references.
  [[nodiscard]] bool drop_only_reference() {
    if (word_.load(MemoryOrder::acquire) != single_frame + 1) return false;
    word_.store(single_frame, MemoryOrder::relaxed);
    return true;
  }

  // True for the one who drops the last reference or pin: the frame is then the caller's to free. Dropping what was
  // never taken is a bug in the caller and traps.
  [[nodiscard]] bool drop_references(std::uint32_t count) { return drop(count, 0xffffffffu); }
  [[nodiscard]] bool drop_pin() { return drop(one_pin, std::uint64_t{0xffff} << pin_shift); }

  static constexpr std::uint32_t most_pins = 0x7fff;  // half of what fits: CPUs that race past it do not overflow

 private:
  static constexpr unsigned pin_shift = 32;
  static constexpr unsigned order_shift = 48;
  static constexpr unsigned allocated_shift = 56;
  static constexpr std::uint64_t single_frame = std::uint64_t{1} << allocated_shift;  // allocated alone, order 0
  static constexpr std::uint64_t one_pin = std::uint64_t{1} << pin_shift;

  std::uint64_t word() const { return word_.load(MemoryOrder::relaxed); }
  bool drop(std::uint64_t amount, std::uint64_t field) {
    const std::uint64_t before = word_.fetch_subtract(amount, MemoryOrder::acquire_release);
    if ((before & field) < amount) __builtin_trap();
    return ((before - amount) << (64 - order_shift)) == 0;
  }

  Atomic<std::uint64_t> word_;
};
static_assert(sizeof(FrameInfo) == 8);

// Where the infos lie: one array for each 1 GiB of addresses that holds memory. It never changes after the start, so
// every CPU keeps a copy and asks without a lock.
class FrameTable {
 public:
  FrameTable() = default;
  FrameTable(FrameInfo* const* sections, std::uint64_t section_count)
      : sections_(sections), section_count_(section_count) {}

  // Precondition: the frame was handed out by the allocator this table belongs to.
  FrameInfo& info(FrameNumber frame) const {
    const std::uint64_t section = frame.value() / frames_per_giant_page;
    if (section >= section_count_) __builtin_trap();
    return sections_[section][frame.value() % frames_per_giant_page];
  }

  // The first frame of the allocation that holds `frame`. A large page whose mapping was split is still one allocation:
  // its pieces count at the head as before, so splitting moves no count and nothing races.
  FrameNumber head_of(FrameNumber frame) const {
    for (unsigned order = 0; order <= 18; ++order) {
      const FrameNumber head(round_down(frame.value(), std::uint64_t{1} << order));
      const FrameInfo& candidate = info(head);
      if (candidate.allocated() && candidate.order() >= order) return head;
    }
    __builtin_trap();  // nobody allocated it
  }

 private:
  FrameInfo* const* sections_ = nullptr;
  std::uint64_t section_count_ = 0;
};

}  // namespace ingot::os
