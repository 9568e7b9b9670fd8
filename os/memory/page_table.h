// PageTable: a tree of tables in the form an architecture's Format describes (os/arch/*/page_table_format.h).
//
// It changes memory only: what the CPUs must forget goes into a TlbBatch. It does not know what frames hold or who owns
// them: pages that leave are shown to the caller. Addresses and lengths are multiples of 4 KiB. It is no lock.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>

#include "base/atomic.h"
#include "base/result.h"
#include "os/memory/address.h"
#include "os/memory/frame_source.h"
#include "os/memory/page_attributes.h"
#include "os/memory/physical_window.h"
#include "os/memory/tlb_flush.h"

namespace ingot::os {

template <class Format>
class PageTable {
 public:
  // `largest`: not every CPU has giant pages.
  static Result<PageTable> create(FrameSource& frames, PhysicalWindow window, PageSize largest = Format::largest_page) {
    PageTable table(frames, window, largest);
    table.root_ = TRY(table.new_table());
    return table;
  }
  // Takes over tables that exist already, such as those of the boot code.
  static PageTable adopt(PhysicalAddress root, FrameSource& frames, PhysicalWindow window, PageSize largest) {
    PageTable table(frames, window, largest);
    table.root_ = root;
    return table;
  }
  PageTable(PageTable&&) = default;  // and no copies: one tree, one owner
  PageTable& operator=(PageTable&&) = default;

  PhysicalAddress root() const { return root_; }
  PageSize largest_page() const { return largest_; }
  std::uint64_t table_count() const { return table_count_; }  // that this object allocated and still holds

  // Maps one page where there is none.
  Result<void> map(VirtualAddress address, PhysicalAddress physical, PageSize size, PageAttributes attributes) {
    TRY(check(address, bytes_of(size), attributes));
    if (size > largest_ || !address.aligned(bytes_of(size)) || !physical.aligned(bytes_of(size))) {
      return Error::of(ErrorCode::invalid_argument, "expected a page of at most ", bytes_of(largest_),
                       " bytes at a multiple of its size, found ", bytes_of(size), " bytes at ", address, " -> ",
                       physical);
    }
    const auto target = static_cast<unsigned>(size);
    PhysicalAddress table = root_;
    for (unsigned level = Format::levels - 1; level > target; --level) table = TRY(table_below(table, level, address));
    Slot& slot = slot_of(table, target, address);
    if (Format::used(read(slot))) return occupied(address);
    slot.store(Format::page(target, physical, attributes), MemoryOrder::release);
    return {};
  }

  // Maps a range onto contiguous memory by the largest pages that fit. On failure what was mapped so far stays.
  Result<void> map_range(VirtualAddress address, PhysicalAddress physical, std::uint64_t bytes,
                         PageAttributes attributes) {
    TRY(check(address, bytes, attributes));
    while (bytes != 0) {
      PageSize size = largest_;
      while (size != PageSize::small &&
             (((address.value() | physical.value()) & (bytes_of(size) - 1)) != 0 || bytes < bytes_of(size))) {
        size = static_cast<PageSize>(static_cast<unsigned>(size) - 1);
      }
      TRY(map(address, physical, size, attributes));
      address += bytes_of(size);
      physical += bytes_of(size);
      bytes -= bytes_of(size);
    }
    return {};
  }

  // Removes every page of a range, shows each to `removed`, and gives empty tables back. Pages that reach beyond the
  // range are split first; only that can fail, and then nothing was removed. `wanted(page)` may let pages stay.
  template <class Removed, class Wanted = EveryPage>
  Result<void> unmap(VirtualAddress address, std::uint64_t bytes, TlbBatch& batch, Removed removed,
                     Wanted wanted = {}) {
    TRY(check(address, bytes, {}));
    if (bytes == 0) return {};
    TRY(split_at_ends(address, bytes, batch));
    unmap_in(root_, Format::levels - 1, address, address + (bytes - 1), batch, removed, wanted);
    return {};
  }

  // Gives every page of a range the attributes that `change(page)` answers; what is not mapped stays so. Fails like
  // unmap.
  template <class Change>
  Result<void> protect(VirtualAddress address, std::uint64_t bytes, TlbBatch& batch, Change change) {
    TRY(check(address, bytes, {}));
    if (bytes == 0) return {};
    TRY(split_at_ends(address, bytes, batch));
    visit_in(
        root_, Format::levels - 1, address, address + (bytes - 1), [&](Slot& slot, unsigned level, VirtualAddress at) {
          Entry entry = read(slot);
          const MappedPage page = describe_page(level, entry, at);
          const PageAttributes attributes = change(page);
          if (attributes == page.attributes) return;
          // The CPU may note a use at any moment: an exchange that sees the old entry loses none.
          while (!slot.compare_exchange(entry, Format::page(level, page.physical, attributes) | Format::history(entry),
                                        MemoryOrder::acquire_release)) {
          }
          batch.add(at, static_cast<PageSize>(level));
        });
    return {};
  }

  // Whether a page of a range was written to; from now on none was.
  bool take_dirty(VirtualAddress address, std::uint64_t bytes, TlbBatch& batch) {
    bool any = false;
    visit_in(root_, Format::levels - 1, address, address + (bytes - 1),
             [&](Slot& slot, unsigned level, VirtualAddress at) {
               if (!Format::is_dirty(read(slot))) return;
               slot.fetch_and(~Format::dirty, MemoryOrder::acquire_release);
               batch.add(at, static_cast<PageSize>(level));
               any = true;
             });
    return any;
  }

  // Puts another frame behind a page. In between there is no page, and every CPU has forgotten the old one: no two CPUs
  // ever see different memory at one address. Precondition: a page of this size is there.
  template <class Removed>
  void replace(const MappedPage& old, PhysicalAddress physical, PageAttributes attributes, TlbBatch& batch,
               Removed removed) {
    const auto target = static_cast<unsigned>(old.size);
    PhysicalAddress table = root_;
    for (unsigned level = Format::levels - 1; level > target; --level) {
      table = Format::table_of(read(slot_of(table, level, old.address)));
    }
    Slot& slot = slot_of(table, target, old.address);
    const Entry entry = slot.exchange(0, MemoryOrder::acquire_release);
    batch.add(old.address, old.size);
    removed(describe_page(target, entry, old.address));
    batch.finish();
    slot.store(Format::page(target, physical, attributes), MemoryOrder::release);
  }

  // Whether a page of this size could be mapped around the address: nothing is mapped there, not even in part.
  bool vacant(VirtualAddress address, PageSize size) const {
    PhysicalAddress table = root_;
    for (unsigned level = Format::levels - 1;; --level) {
      const Entry entry = read(slot_of(table, level, address));
      if (!Format::used(entry)) return true;
      if (level == static_cast<unsigned>(size) || Format::is_page(level, entry)) return false;
      table = Format::table_of(entry);
    }
  }

  // The page that holds an address.
  std::optional<MappedPage> find(VirtualAddress address) const {
    if (!Format::canonical(address)) return std::nullopt;
    PhysicalAddress table = root_;
    for (unsigned level = Format::levels; level-- > 0;) {
      const Entry entry = read(slot_of(table, level, address));
      if (!Format::used(entry)) return std::nullopt;
      if (Format::is_page(level, entry)) return describe_page(level, entry, address.rounded_down(span(level)));
      table = Format::table_of(entry);
    }
    return std::nullopt;
  }
  std::optional<PhysicalAddress> translate(VirtualAddress address) const {
    const std::optional<MappedPage> page = find(address);
    if (!page) return std::nullopt;
    return page->physical + (address - page->address);
  }

  // Shows every page of a range to `visit`, in order.
  template <class Visit>
  void for_each(VirtualAddress address, std::uint64_t bytes, Visit visit) const {
    if (bytes == 0) return;
    visit_in(root_, Format::levels - 1, address, address + (bytes - 1),
             [&](Slot& slot, unsigned level, VirtualAddress at) { visit(describe_page(level, read(slot), at)); });
  }

  // Replaces a larger page by pages of `size` around the address. What it maps stays the same at every moment.
  Result<void> split(VirtualAddress address, PageSize size, TlbBatch& batch) {
    PhysicalAddress table = root_;
    for (unsigned level = Format::levels - 1; level > static_cast<unsigned>(size); --level) {
      Slot& slot = slot_of(table, level, address);
      const Entry entry = read(slot);
      if (!Format::used(entry)) return {};
      if (Format::is_page(level, entry)) TRY(split_slot(slot, level, address.rounded_down(span(level)), batch));
      table = Format::table_of(read(slot));
    }
    return {};
  }

  // Splits what crosses either end of a range; afterwards changing the range cannot fail.
  Result<void> split_at_ends(VirtualAddress address, std::uint64_t bytes, TlbBatch& batch) {
    for (const VirtualAddress end : {address, address + bytes}) {
      if (!Format::canonical(end)) continue;  // one past the lower half
      if (!end.aligned(span(1))) {
        TRY(split(end, PageSize::small, batch));
      } else if (!end.aligned(span(2))) {
        TRY(split(end, PageSize::large, batch));
      }
    }
    return {};
  }

  // Makes the tables right below the root exist for a range, so that trees which share them later all see its pages.
  Result<void> prepare(VirtualAddress address, std::uint64_t bytes) {
    TRY(check(address, bytes, {}));
    for (std::uint64_t offset = 0; offset < bytes; offset += span(Format::levels - 1)) {
      TRY(table_below(root_, Format::levels - 1, address + offset));
    }
    return {};
  }
  // The kernel's half: the tables that `kernel` has there now are used, not copied.
  void share_upper_half(const PageTable& kernel) {
    for (unsigned index = entries / 2; index < entries; ++index) {
      slots(root_)[index].store(read(slots(kernel.root_)[index]), MemoryOrder::release);
    }
  }
  // Gives the root back. Precondition: everything of the lower half is unmapped, and no CPU uses this tree.
  void destroy() {
    frames_->release(FrameNumber::containing(root_), page_order);
    --table_count_;
  }

 private:
  using Entry = typename Format::Entry;
  using Slot = Atomic<Entry>;
  static constexpr unsigned entries = 512;

  PageTable(FrameSource& frames, PhysicalWindow window, PageSize largest)
      : frames_(&frames), window_(window), largest_(largest) {}

  static constexpr std::uint64_t span(unsigned level) { return page_bytes << (9 * level); }
  static Entry read(const Slot& slot) { return slot.load(MemoryOrder::relaxed); }
  Slot* slots(PhysicalAddress table) const { return window_.at<Slot>(table); }
  Slot& slot_of(PhysicalAddress table, unsigned level, VirtualAddress address) const {
    return slots(table)[address.value() / span(level) % entries];
  }
  static MappedPage describe_page(unsigned level, Entry entry, VirtualAddress address) {
    return {address,
            Format::page_of(level, entry),
            static_cast<PageSize>(level),
            Format::attributes_of(level, entry),
            Format::is_accessed(entry),
            Format::is_dirty(entry)};
  }

  static Result<void> check(VirtualAddress address, std::uint64_t bytes, PageAttributes attributes) {
    const VirtualAddress last = address + (bytes == 0 ? 0 : bytes - 1);
    const bool whole_pages = address.aligned(page_bytes) && is_aligned(bytes, page_bytes);
    // A range may not leave the half it starts in.
    if (!whole_pages || !Format::canonical(address) || !Format::canonical(last) || last < address ||
        (address.value() ^ last.value()) >> 63 != 0) {
      return Error::of(ErrorCode::invalid_argument, "expected whole pages of one half of the address space, found ",
                       bytes, " bytes at ", address);
    }
    // For a program's pages that is its address space's decision.
    if (attributes.privilege == Privilege::kernel && allows(attributes.access, Access::write | Access::execute)) {
      return Error::of(ErrorCode::invalid_argument,
                       "expected pages that are not writable and executable at once, found ", attributes.access, " at ",
                       address);
    }
    return {};
  }
  static Error occupied(VirtualAddress address) {
    return Error::of(ErrorCode::invalid_argument, "expected no page at ", address, ", found one");
  }

  Result<PhysicalAddress> new_table() {
    const FrameNumber frame = TRY(frames_->allocate(page_order));
    ++table_count_;
    window_.clear(frame.address(), page_bytes);
    return frame.address();
  }
  void retire_table(PhysicalAddress table, TlbBatch& batch) {
    --table_count_;
    batch.release_later(FrameNumber::containing(table), page_order);
  }

  Result<PhysicalAddress> table_below(PhysicalAddress table, unsigned level, VirtualAddress address) {
    Slot& slot = slot_of(table, level, address);
    const Entry entry = read(slot);
    if (Format::used(entry)) {
      if (Format::is_page(level, entry)) return occupied(address);
      return Format::table_of(entry);
    }
    const PhysicalAddress below = TRY(new_table());
    slot.store(Format::table(below), MemoryOrder::release);  // a CPU that sees the entry sees a cleared table
    return below;
  }

  Result<void> split_slot(Slot& slot, unsigned level, VirtualAddress begin, TlbBatch& batch) {
    const PhysicalAddress table = TRY(new_table());
    Entry entry = read(slot);
    do {
      const PageAttributes attributes = Format::attributes_of(level, entry);
      for (unsigned index = 0; index < entries; ++index) {
        const PhysicalAddress physical = Format::page_of(level, entry) + index * span(level - 1);
        slots(table)[index].store(Format::page(level - 1, physical, attributes) | Format::history(entry),
                                  MemoryOrder::relaxed);
      }
    } while (!slot.compare_exchange(entry, Format::table(table), MemoryOrder::acquire_release));
    batch.add(begin, static_cast<PageSize>(level));
    return {};
  }

  // Calls act(slot, level, address) for every page that begins within [first, last].
  template <class Act>
  void visit_in(PhysicalAddress table, unsigned level, VirtualAddress first, VirtualAddress last,
                const Act& act) const {
    for_slots(table, level, first, last, [&](Slot& slot, VirtualAddress begin, VirtualAddress from, VirtualAddress to) {
      const Entry entry = read(slot);
      if (Format::is_page(level, entry)) return act(slot, level, begin);
      visit_in(Format::table_of(entry), level - 1, from, to, act);
    });
  }

  template <class Removed, class Wanted>
  void unmap_in(PhysicalAddress table, unsigned level, VirtualAddress first, VirtualAddress last, TlbBatch& batch,
                Removed& removed, const Wanted& wanted) {
    for_slots(table, level, first, last, [&](Slot& slot, VirtualAddress begin, VirtualAddress from, VirtualAddress to) {
      if (Format::is_page(level, read(slot))) {
        if (!wanted(describe_page(level, read(slot), begin))) return;
        const Entry entry = slot.exchange(0, MemoryOrder::acquire_release);
        batch.add(begin, static_cast<PageSize>(level));
        removed(describe_page(level, entry, begin));
        return;
      }
      const PhysicalAddress below = Format::table_of(read(slot));
      unmap_in(below, level - 1, from, to, batch, removed, wanted);
      // Tables right below the root may be shared between trees: those of the upper half stay.
      if ((level == Format::levels - 1 && begin.value() >> 63 != 0) || !is_empty(below, to.value() / span(level - 1)))
        return;
      slot.store(0, MemoryOrder::release);
      batch.add(begin, PageSize::small);  // CPUs keep parts of the walk, too
      retire_table(below, batch);
    });
  }
  // Looks first around where a range ended: its neighbours are the likeliest to be there.
  bool is_empty(PhysicalAddress table, std::uint64_t near) const {
    const Slot* const all = slots(table);
    for (unsigned distance = 0; distance <= entries / 2; ++distance) {
      if (Format::used(read(all[(near + distance) % entries]))) return false;
      if (Format::used(read(all[(near - distance) % entries]))) return false;
    }
    return true;
  }

  // Each used slot that [first, last] meets, with the part of the range it holds. Ends are inclusive: the last page of
  // the address space has no end that fits.
  template <class Act>
  void for_slots(PhysicalAddress table, unsigned level, VirtualAddress first, VirtualAddress last,
                 const Act& act) const {
    Slot* const first_slot = &slot_of(table, level, first);
    Slot* const end = &slot_of(table, level, last) + 1;
    for (Slot* slot = next_used(first_slot, end); slot != end; slot = next_used(slot + 1, end)) {
      const auto index = static_cast<std::uint64_t>(slot - first_slot);
      const VirtualAddress begin = first.rounded_down(span(level)) + index * span(level);
      const VirtualAddress slot_last = begin + (span(level) - 1);
      act(*slot, begin, index == 0 ? first : begin, slot_last < last ? slot_last : last);
    }
  }
  // Those that are not used, which are most, are passed over four at a time.
  static Slot* next_used(Slot* slot, Slot* end) {
    while (end - slot >= 4 && (read(slot[0]) | read(slot[1]) | read(slot[2]) | read(slot[3])) == 0) slot += 4;
    while (slot != end && !Format::used(read(*slot))) ++slot;
    return slot;
  }

  FrameSource* frames_;
  PhysicalWindow window_;
  PageSize largest_;
  PhysicalAddress root_;
  std::uint64_t table_count_ = 0;
};

}  // namespace ingot::os
