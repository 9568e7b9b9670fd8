// FrameCache: a CPU's own few frames, so that most allocations take no lock and touch no shared line.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.h"
#include "os/memory/frame_allocator.h"
#include "os/memory/frame_source.h"
#include "os/schedule/locked.h"

namespace ingot::os {

// With interrupts off, so that no handler waits for a lock while its CPU holds this one.
using LockedFrames = Locked<FrameAllocator, SharedWith::interrupts>;

// A cache belongs to one CPU: its caller stays there (a thread that nothing preempts) and is no interrupt handler.
class FrameCache final : public FrameSource {
 public:
  static constexpr std::size_t capacity = 64;
  static constexpr std::size_t batch = capacity / 2;

  FrameCache(LockedFrames& shared, const FrameTable& table) : shared_(&shared), table_(table) {}
  FrameCache(const FrameCache&) = delete;
  FrameCache& operator=(const FrameCache&) = delete;
  ~FrameCache() { drain(0); }

  using FrameSource::allocate;
  Result<FrameNumber> allocate(unsigned order, Zone zone) override {
    if (order != page_order || zone != Zone::any) return allocate_shared(order, zone);
    return allocate_page();
  }
  Result<FrameNumber> allocate_page() {
    if (count_ == 0) return allocate_and_refill();
    const FrameNumber frame = frames_[--count_];
    table_.info(frame).mark_allocated(page_order, 1);
    return frame;
  }

  void release(FrameNumber frame, unsigned order) override {
    if (order != page_order || count_ == capacity || !table_.info(frame).drop_only_reference()) {
      return release_counted(frame, order);
    }
    frames_[count_++] = frame;
  }
  void unpin(FrameNumber frame) override {
    const FrameNumber head = table_.head_of(frame);
    if (table_.info(head).drop_pin()) keep(head);
  }

  void adopt(FrameNumber begin, FrameNumber end) override {
    shared_->with([&](FrameAllocator& frames) { frames.adopt(begin, end); });
  }

  const FrameTable& table() const override { return table_; }
  std::size_t size() const { return count_; }

  // Gives frames back until at most `kept` are left: before a CPU stops, or when memory is short.
  void drain(std::size_t kept) {
    if (count_ <= kept) return;
    free_shared(std::span(frames_).subspan(kept, count_ - kept));
    count_ = kept;
  }

 private:
  // The seldom halves of those above, kept out of them: they would need registers that the frequent halves then save.
  [[gnu::noinline]] Result<FrameNumber> allocate_and_refill() {
    const FrameNumber frame = TRY(allocate_shared(page_order, Zone::any));
    const std::span<FrameNumber> wanted = std::span(frames_).first(batch);
    count_ = shared_->with([&](FrameAllocator& frames) { return frames.allocate_batch(wanted); });
    return frame;
  }
  [[gnu::noinline]] void release_counted(FrameNumber frame, unsigned order) {
    const FrameNumber head = table_.head_of(frame);
    if (table_.info(head).drop_references(std::uint32_t{1} << order)) keep(head);
  }

  [[gnu::noinline]] Result<FrameNumber> allocate_shared(unsigned order, Zone zone) {
    return shared_->with([&](FrameAllocator& frames) { return frames.allocate(order, zone); });
  }
  void free_shared(std::span<const FrameNumber> heads) {
    shared_->with([&](FrameAllocator& frames) { frames.free_batch(heads); });
  }
  // Nobody uses the allocation any more: it is ours.
  void keep(FrameNumber head) {
    if (table_.info(head).order() != page_order) return free_shared(std::span(&head, 1));
    if (count_ == capacity) drain(capacity - batch);
    frames_[count_++] = head;
  }

  LockedFrames* shared_;
  FrameTable table_;
  std::size_t count_ = 0;
  std::array<FrameNumber, capacity> frames_{};
};

}  // namespace ingot::os
