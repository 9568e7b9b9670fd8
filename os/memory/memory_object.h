// MemoryObject: what a region shows. The address space asks it for pages when they are first touched; it can withdraw
// them again.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/intrusive_list.h"
#include "base/result.h"
#include "os/memory/address.h"
#include "os/memory/frame_source.h"
#include "os/memory/page_attributes.h"
#include "os/memory/physical_window.h"
#include "os/schedule/locked.h"

namespace ingot::os {

class Node;
struct Region;
struct RegionsOfObject;

// Who shows an object's memory, and how many of them use it so that others may not.
struct RegionsShowing {
  IntrusiveList<Region, RegionsOfObject> all;
  std::uint32_t executable = 0;  // regions
  std::uint32_t writable = 0;    // shared regions, and calls that write to it
};

// Memory behind one page of the size that was asked for.
struct Backing {
  PhysicalAddress physical;
  FrameOwnership ownership = FrameOwnership::borrowed;  // counted: the references now belong to the mapping
};

// An object outlives the regions that show it (its list traps otherwise).
class MemoryObject {
 public:
  // Whether fault() always answers one offset with the same memory. Only such memory can be shared.
  enum class Pages : std::uint8_t { fresh, kept };

  MemoryObject(std::string_view name, Pages pages, PageSize largest, CacheMode cache)
      : name_(name), pages_(pages), largest_(largest), cache_(cache) {}
  MemoryObject(const MemoryObject&) = delete;
  MemoryObject& operator=(const MemoryObject&) = delete;

  std::string_view name() const { return name_; }
  Pages pages() const { return pages_; }
  PageSize largest_page() const { return largest_; }
  CacheMode cache() const { return cache_; }
  // Where in a giant page of memory its first byte lies, so that a region can be placed to have large pages of it.
  virtual std::uint64_t phase() const { return 0; }
  auto& regions() { return regions_; }
  virtual Node* node() { return nullptr; }  // the file whose content it is

  // The memory at [offset, offset + bytes_of(size)), aligned to the size. Failing for a large page means only that it
  // cannot be one: small ones are asked for next. What must be waited for (a disk, a GPU) is would_block: the space's
  // lock is let go, await() called, and the fault asked again. New pages that are large are asked for without the lock.
  virtual Result<Backing> fault(std::uint64_t offset, PageSize size) = 0;
  // Sleeps until it makes sense to ask again. An object that answers would_block has its own.
  virtual void await(std::uint64_t, PageSize) { __builtin_trap(); }

  // A device will access borrowed memory by its physical address until unpin: it must stay where it is. (Counted frames
  // carry their pins themselves.)
  virtual Result<void> pin(std::uint64_t offset, std::uint64_t bytes) {
    static_cast<void>(offset), static_cast<void>(bytes);
    return {};
  }
  virtual void unpin(std::uint64_t offset, std::uint64_t bytes) { static_cast<void>(offset), static_cast<void>(bytes); }

  // A program let go of a range: `by` shows none of it any more, nor does any CPU remember it. Where no other region
  // shows it, either, an object that is made to be used up gives its memory away. The space's lock is held.
  virtual void let_go(std::uint64_t offset, std::uint64_t bytes, const Region& by) {
    static_cast<void>(offset), static_cast<void>(bytes), static_cast<void>(by);
  }

  // Gives a region, which may be new here, an access. What is executable by one region is not writable by another,
  // shared one, nor by a call: then denied, and nothing changed. Private regions write to copies; programs that were
  // granted writable code are not held to it.
  Result<void> show(Region& region, Access access);
  void hide(Region& region);
  // The same for calls like write(2), from one to the other: false while somebody may execute it.
  [[nodiscard]] bool begin_writing();
  void end_writing();
  // Shared regions have written to it since they last said so.
  virtual void note_writing() {}

  // Takes the pages of a range away from every region that shows them; the next touch asks fault() again. For an object
  // whose memory moves (a device's) or shrinks. Not from inside fault().
  Result<void> invalidate(std::uint64_t offset, std::uint64_t bytes);

 protected:
  ~MemoryObject() = default;

 private:
  std::string_view name_;
  Pages pages_;
  PageSize largest_;
  CacheMode cache_;
  Locked<RegionsShowing> regions_{LockRank::memory_object};
};

// Zeroes: each page is a new one, its mapping's own. It has no state, so one object serves everybody.
class AnonymousMemory final : public MemoryObject {
 public:
  AnonymousMemory(FrameSource& frames, PhysicalWindow window)
      : MemoryObject("anonymous", Pages::fresh, PageSize::large, CacheMode::write_back),
        frames_(&frames),
        window_(window) {}

  Result<Backing> fault(std::uint64_t, PageSize size) override {
    const FrameNumber frame = TRY(frames_->allocate(order_of(size)));
    window_.clear(frame.address(), bytes_of(size));
    return Backing{frame.address(), FrameOwnership::counted};
  }

 private:
  FrameSource* frames_;
  PhysicalWindow window_;
};

// A range of physical memory that is there for good: a segment of the boot image (weights are used in place, without a
// copy) or, with another cache mode, a device's registers.
class PhysicalMemory final : public MemoryObject {
 public:
  PhysicalMemory(std::string_view name, PhysicalAddress begin, std::uint64_t bytes, CacheMode cache)
      : MemoryObject(name, Pages::kept, PageSize::giant, cache), begin_(begin), bytes_(round_up(bytes, page_bytes)) {}

  Result<Backing> fault(std::uint64_t offset, PageSize size) override {
    const PhysicalAddress physical = begin_ + offset;
    if (offset > bytes_ || bytes_ - offset < bytes_of(size) || !physical.aligned(bytes_of(size))) {
      return Error::of(ErrorCode::out_of_range, "expected a page of ", bytes_of(size), " bytes inside the ", bytes_,
                       " bytes of ", name(), ", found offset ", offset);
    }
    return Backing{physical, FrameOwnership::borrowed};
  }
  std::uint64_t phase() const override { return begin_.value() % giant_page_bytes; }

 private:
  PhysicalAddress begin_;
  std::uint64_t bytes_;
};

}  // namespace ingot::os
