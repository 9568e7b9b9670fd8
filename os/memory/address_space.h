// AddressSpace: what a program sees as its memory. Regions say what may be where; pages appear when they are touched.
//
// Its page table is also the only record of which page a private region holds, so nothing can disagree with it. Faults
// and changes may come from all threads: they take turns, and whoever waits sleeps.
#pragma once

#include <cstdint>
#include <optional>

#include "base/atomic.h"
#include "base/intrusive_list.h"
#include "base/result.h"
#include "os/arch/x86_64/page_table_format.h"
#include "os/memory/allocator.h"
#include "os/memory/frame_source.h"
#include "os/memory/memory_account.h"
#include "os/memory/owned.h"
#include "os/memory/page_table.h"
#include "os/memory/physical_window.h"
#include "os/memory/region_map.h"
#include "os/memory/tlb_flush.h"
#include "os/schedule/locked.h"
#include "os/schedule/mutex.h"

namespace ingot::os {

// So far there is one format; being data, it serves tests on every host.
using NativePageTable = PageTable<x86_64::PageTableFormat>;

class AddressSpace;
using AddressSpaceList = Locked<IntrusiveList<AddressSpace>>;

struct MemoryServices {
  FrameSource* frames;
  PhysicalWindow window;
  TlbFlusher* flusher;
  Allocator* heap;
  AddressSpaceList* spaces = nullptr;  // where every space is listed, for reports
  MemoryAccount* account = nullptr;    // of one space, which it outlives; none: nobody counts
  bool allows_writable_code = false;   // pages that are writable and executable at once, if a program was granted that
};

enum class RegionPurpose : std::uint8_t { general, stack, reservation };

struct RegionRequest {
  MemoryObject* object = nullptr;
  std::uint64_t object_offset = 0;
  std::uint64_t bytes = 0;
  Access access = Access::read;
  Access most_access = every_access;  // that protect() may give it
  Sharing sharing = Sharing::private_copy;
  RegionPurpose purpose = RegionPurpose::general;
  std::uint64_t guard_bytes = 0;                         // at the low end, part of `bytes`
  std::optional<VirtualAddress> address = std::nullopt;  // exactly there, or wherever there is room
  VirtualAddress lowest{};                               // preferred: from here on
  Reference<Shared> owner{};                             // keeps the object as long as it is shown
  bool locked = false;
};

// What a fault needed.
enum class FaultWork : std::uint8_t {
  nothing,  // another CPU was faster, or this one remembered too long
  mapped,   // a page that was not there
  copied,   // a page that others see, too, before the first write
  allowed,  // a page whose rights were less than its region's
};

struct AddressSpaceStatistics {
  std::uint64_t faults = 0;
  std::uint64_t refused_faults = 0;
  std::uint64_t large_pages = 0;        // faults that mapped a large page, as the policy wants
  std::uint64_t large_page_misses = 0;  // faults that wanted one and found no memory in one piece
  std::uint64_t small_pages = 0;
  std::uint64_t copies = 0;
};

// Memory a device may access: one piece for each page. It outlives the region, the space and the file that showed it.
struct PinnedPiece {
  PhysicalAddress physical;
  std::uint64_t bytes = 0;
  MemoryObject* lender = nullptr;  // nullptr: the frame carries the pin
  std::uint64_t object_offset = 0;
  Reference<Shared> owner{};  // keeps the lender, where it would go with its last owner

  void unpin(FrameSource& frames) const {
    if (lender != nullptr) return lender->unpin(object_offset, bytes);
    frames.unpin(FrameNumber::containing(physical));
  }
};

class AddressSpace : public ListLink<> {
 public:
  // Regions lie within [low, high). The kernel's half, where given, is shared with `kernel`.
  static Result<Owned<AddressSpace>> create(const MemoryServices& services, const NativePageTable* kernel,
                                            VirtualAddress low, VirtualAddress high);
  AddressSpace(const MemoryServices& services, NativePageTable table, VirtualAddress low, VirtualAddress high);
  AddressSpace(const AddressSpace&) = delete;
  AddressSpace& operator=(const AddressSpace&) = delete;
  // Precondition: no thread uses it.
  ~AddressSpace();

  // All lengths and addresses are whole pages.
  Result<VirtualAddress> add(const RegionRequest& request);
  // Whatever lies in the range goes; regions that reach beyond it are cut. What they showed may go with the last of
  // them: whoever holds a lock keeps them until it does not.
  Result<void> remove(VirtualAddress address, std::uint64_t bytes, RemovedRegions& removed);
  Result<void> remove(VirtualAddress address, std::uint64_t bytes) {
    RemovedRegions removed(*services_.heap);
    return remove(address, bytes, removed);
  }
  // Fails where a part of the range has no region (not_found), or one that must not have the access (denied).
  Result<void> protect(VirtualAddress address, std::uint64_t bytes, Access access);
  // What mlock says of a range, all of which has regions. Nothing is ever paged out: it is a mark.
  Result<void> set_locked(VirtualAddress address, std::uint64_t bytes, bool locked);
  // A part of one region becomes longer (new_bytes is no less): where it is, if what lies behind it is free; or
  // elsewhere, and its pages go with it.
  Result<VirtualAddress> grow(VirtualAddress from, std::uint64_t old_bytes, std::uint64_t new_bytes);
  Result<VirtualAddress> move(VirtualAddress from, std::uint64_t old_bytes, std::uint64_t new_bytes,
                              VirtualAddress lowest);

  // The pages of a range go, its regions stay: the next touch finds what the objects show.
  Result<void> discard(VirtualAddress address, std::uint64_t bytes);
  // Tells objects whose shared pages in a range were written to since they were told.
  void note_writing(VirtualAddress address, std::uint64_t bytes);
  // From the one at an address or behind it upwards, as long as `visit` says so; it must not touch the space.
  template <class Visit>
  void each_region(VirtualAddress from, Visit&& visit) {
    const MutexGuard guard(mutex_);
    const Region* region = regions_.first_behind(from);
    while (region != nullptr && visit(static_cast<const RegionFields&>(*region))) region = regions_.after(*region);
  }
  // A copy of what the region that holds the address is now.
  std::optional<RegionFields> region_at(VirtualAddress address);

  // Answers a page fault. An error says precisely what was touched and what is there: its code tells a wild address
  // or a guard page (not_found), what an object has not (out_of_range), a right that is missing (invalid_argument), and
  // memory that ran out.
  Result<FaultWork> fault(VirtualAddress address, Access access);

  // The same regions with the same content; private pages are shared until one side writes.
  Result<Owned<AddressSpace>> clone(const NativePageTable* kernel);

  // Makes the page at an address present and keeps it in place for a device, until PinnedPiece::unpin: a piece that
  // ends with the page, or after so many bytes. DmaList (os/device) does it for ranges.
  Result<PinnedPiece> pin(VirtualAddress address, std::uint64_t most_bytes, Access access);

  // Takes away the pages of a part of a region that show its object's own memory; copies stay. Nothing where somebody
  // else is at work here: MemoryObject::invalidate, who asks, holds a lock that comes after ours.
  std::optional<Result<void>> try_withdraw(const Region& region, VirtualAddress address, std::uint64_t bytes);

  bool allows_writable_code() const { return services_.allows_writable_code; }
  // For reports and tests, while nobody changes the space.
  const RegionMap& regions() const { return regions_; }
  const NativePageTable& table() const { return table_; }
  const AddressSpaceStatistics& statistics() const { return statistics_; }
  std::uint64_t frames_held() const { return frames_held_.load(MemoryOrder::relaxed); }  // by pages, tables apart

 private:
  Result<void> check_range(VirtualAddress address, std::uint64_t bytes) const;
  bool is_refused(Access access) const {
    return !allows_writable_code() && allows(access, Access::write | Access::execute);
  }
  Result<RegionFields> part_of_one(VirtualAddress begin, std::uint64_t bytes) const;
  Result<void> check_covered(VirtualAddress address, std::uint64_t bytes, Access access) const;
  Result<void> make_borders(VirtualAddress address, std::uint64_t bytes, TlbBatch& batch);
  void join_within(VirtualAddress address, std::uint64_t bytes);
  Result<void> change_access(Region& region, Access access, TlbBatch& batch);
  // Each region that has a part in a range, with the begin and the bytes of that part.
  template <class Visit>
  void each_part(VirtualAddress address, std::uint64_t bytes, Visit visit) {
    for (Region* region = regions_.first_behind(address); region != nullptr && region->begin < address + bytes;
         region = regions_.after(*region)) {
      const VirtualAddress begin = region->begin > address ? region->begin : address;
      visit(*region, begin, (region->end() < address + bytes ? region->end() : address + bytes) - begin);
    }
  }
  Result<void> share_pages(const Region& region, AddressSpace& child);
  Result<PinnedPiece> pin_present(const Region& region, const MappedPage& page, VirtualAddress address,
                                  std::uint64_t most_bytes);
  // What an object is asked without the lock.
  struct Errand;
  Result<FaultWork> answer(VirtualAddress address, Access access, Errand& errand);
  Result<Backing> ask(const Region& region, VirtualAddress page, PageSize size, Errand& errand);
  Result<FaultWork> map_page(const Region& region, VirtualAddress address, Access access, Errand& errand);
  Result<FaultWork> raise_access(const Region& region, const MappedPage& page, VirtualAddress address, Access access);
  Result<FaultWork> copy_page(const Region& region, MappedPage page, VirtualAddress address);
  // Whose content a page is: what is written to the object's own must not be seen in a private region.
  enum class Content : std::uint8_t { object, copy };
  Result<Backing> copy_of(const Region& region, const Backing& original);
  Result<void> map_backing(const Region& region, VirtualAddress address, PageSize size, const Backing& backing,
                           Content content);
  PageAttributes attributes_of(const Region& region, FrameOwnership ownership, Content content) const;
  Result<void> check_copyable(const Region& region, PhysicalAddress physical) const;
  const FrameInfo& info_of(const MappedPage& page) const;
  bool is_ours_alone(const MappedPage& page) const;
  bool is_pinned(const MappedPage& page) const;
  auto releasing(const Region& region, TlbBatch& batch) {
    return [this, &region, &batch](const MappedPage& page) {
      account_.hide(region, page);
      if (page.dirty && region.sharing == Sharing::shared) region.object->note_writing();
      if (page.attributes.ownership == FrameOwnership::borrowed) return;
      frames_held_.fetch_subtract(1u << order_of(page.size), MemoryOrder::relaxed);
      batch.release_later(FrameNumber::containing(page.physical), order_of(page.size));
    };
  }

  MemoryServices services_;
  NativePageTable table_;
  RegionMap regions_;
  VirtualAddress low_;
  VirtualAddress high_;
  AddressSpaceStatistics statistics_;
  MemoryAccount nobodys_account_;
  MemoryAccount& account_;
  Atomic<std::uint64_t> frames_held_;
  Mutex mutex_{LockRank::address_space};  // guards all of the above
};

}  // namespace ingot::os
