// FrameCache: a CPU's own few frames, so that most allocations take no lock and touch no shared line.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.h"
#include "os/memory/frame_source.h"

namespace ingot::os {

// Backing: allocate_batch and free_batch as FrameAllocator has them, and allocate(order, zone) for what is not cached;
// in the kernel it takes the lock around each. A cache belongs to one CPU: its caller stays there (interrupts off, or a
// thread that nothing preempts).
template <class Backing>
class FrameCache final : public FrameSource {
 public:
  static constexpr std::size_t capacity = 64;
  static constexpr std::size_t batch = capacity / 2;

  explicit FrameCache(Backing& backing) : backing_(&backing), table_(backing.table()) {}
  FrameCache(const FrameCache&) = delete;
  FrameCache& operator=(const FrameCache&) = delete;
  ~FrameCache() { drain(0); }

  using FrameSource::allocate;
  Result<FrameNumber> allocate(unsigned order, Zone zone) override {
    if (order != page_order || zone != Zone::any) return backing_->allocate(order, zone);
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

  const FrameTable& table() const override { return table_; }
  std::size_t size() const { return count_; }

  // Gives frames back until at most `kept` are left: before a CPU stops, or when memory is short.
  void drain(std::size_t kept) {
    if (count_ <= kept) return;
    backing_->free_batch(std::span(frames_).subspan(kept, count_ - kept));
    count_ = kept;
  }

 private:
  // The seldom halves of the two above, kept out of them: they would need registers that the frequent halves then save.
  [[gnu::noinline]] Result<FrameNumber> allocate_and_refill() {
    const FrameNumber frame = TRY(backing_->allocate(page_order, Zone::any));
    count_ = backing_->allocate_batch(std::span(frames_).first(batch));
    return frame;
  }
  [[gnu::noinline]] void release_counted(FrameNumber frame, unsigned order) {
    const FrameNumber head = table_.head_of(frame);
    if (table_.info(head).drop_references(std::uint32_t{1} << order)) keep(head);
  }

  // Nobody uses the allocation any more: it is ours.
  void keep(FrameNumber head) {
    if (table_.info(head).order() != page_order) return backing_->free_batch(std::span(&head, 1));
    if (count_ == capacity) drain(capacity - batch);
    frames_[count_++] = head;
  }

  Backing* backing_;
  FrameTable table_;
  std::size_t count_ = 0;
  std::array<FrameNumber, capacity> frames_{};
};

}  // namespace ingot::os
