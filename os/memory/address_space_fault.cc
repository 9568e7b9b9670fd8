// How an AddressSpace answers a touch: which page to show, when to copy, when to refuse.
#include <utility>

#include "os/memory/address_space.h"

namespace ingot::os {

struct AddressSpace::Errand {
  explicit Errand(FrameSource& source) : frames(source) {}
  ~Errand() { release(); }

  // A new page that nobody needed after all.
  void release() {
    if (page && page->ok()) frames.release(FrameNumber::containing(page->value().physical), order_of(size));
    page.reset();
  }
  void run() {
    release();
    if (object->pages() == MemoryObject::Pages::kept) {
      object->await(offset, size);
    } else {
      page.emplace(object->fault(offset, size));
    }
    owner.reset();  // perhaps the last one: while no lock is held
  }

  FrameSource& frames;
  MemoryObject* object = nullptr;
  Reference<Shared> owner;  // the region may go meanwhile
  std::uint64_t offset = 0;
  PageSize size = PageSize::small;
  std::optional<Result<Backing>> page;  // a new one, as every region of its object can use
};

Result<FaultWork> AddressSpace::fault(VirtualAddress address, Access access) {
  for (Errand errand(*services_.frames);; errand.run()) {
    const MutexGuard guard(mutex_);
    Result<FaultWork> work = answer(address, access, errand);
    if (work.ok() || work.error().code() != ErrorCode::would_block) return work;
  }
}

// Clearing a large page takes long, and so may a device: neither under the lock.
Result<Backing> AddressSpace::ask(const Region& region, VirtualAddress page, PageSize size, Errand& errand) {
  const bool is_long = region.object->pages() == MemoryObject::Pages::fresh && size != PageSize::small;
  if (is_long && errand.page && errand.object == region.object && errand.size == size) {
    Result<Backing> made = std::move(*errand.page);
    errand.page.reset();
    return made;
  }
  Result<Backing> backing = is_long ? Error::of(ErrorCode::would_block, "expected a page, found that it takes long")
                                    : region.object->fault(region.offset_of(page), size);
  if (!backing.ok() && backing.error().code() == ErrorCode::would_block) {
    --statistics_.faults;  // it will be asked again
    --statistics_.refused_faults;
    errand.release();
    errand.object = region.object;
    errand.owner = region.owner;
    errand.offset = region.offset_of(page);
    errand.size = size;
  }
  return backing;
}

Result<FaultWork> AddressSpace::answer(VirtualAddress address, Access access, Errand& errand) {
  ++statistics_.faults;
  ++statistics_.refused_faults;  // until it is answered
  const Region* region = regions_.find(address);
  if (region == nullptr) {
    return Error::of(ErrorCode::not_found, "expected a region for ", access, " at ", address, ", found none");
  }
  if (region->guards(address)) {
    return Error::of(ErrorCode::not_found, "expected ", access, " at ", address, " to stay above the guard of [",
                     region->begin, ", ", region->last() + 1, "), found it ",
                     region->begin + region->guard_bytes - address, " bytes below");
  }
  if (!allows(region->access, access)) {
    return Error::of(ErrorCode::invalid_argument, "expected a region that allows ", access, " at ", address,
                     ", found [", region->begin, ", ", region->last() + 1, ") of ", region->object->name(),
                     " that allows ", region->access);
  }
  TRY(account_.allow_touch(*region, access));
  const std::optional<MappedPage> page = table_.find(address);
  FaultWork work = FaultWork::nothing;
  if (!page) {
    work = TRY(map_page(*region, address, access, errand));
  } else if (!allows(page->attributes.access, access)) {
    work = TRY(raise_access(*region, *page, address, access));
  }
  --statistics_.refused_faults;
  return work;
}

PageAttributes AddressSpace::attributes_of(const Region& region, FrameOwnership ownership, Content content) const {
  const bool may_write = region.sharing == Sharing::shared || content == Content::copy;
  return {may_write ? region.access : without(region.access, Access::write), Privilege::user, region.object->cache(),
          ownership};
}

// Large pages first, where the policy wants them and one fits; the next smaller size otherwise.
Result<FaultWork> AddressSpace::map_page(const Region& region, VirtualAddress address, Access access, Errand& errand) {
  const bool kept = region.object->pages() == MemoryObject::Pages::kept;
  const Content own = kept ? Content::object : Content::copy;
  PageSize size = PageSize::small;
  if (region.policy == PagePolicy::large_first) {
    size =
        region.object->largest_page() < table_.largest_page() ? region.object->largest_page() : table_.largest_page();
  }
  for (; size != PageSize::small; size = static_cast<PageSize>(static_cast<unsigned>(size) - 1)) {
    const VirtualAddress page = address.rounded_down(bytes_of(size));
    if (region.holds_page(address, size) && table_.vacant(page, size)) {
      auto backing = ask(region, page, size, errand);
      if (!backing.ok() && backing.error().code() == ErrorCode::would_block) return backing.error();
      if (backing.ok()) {
        TRY(map_backing(region, page, size, backing.value(), own));
        ++statistics_.large_pages;
        return FaultWork::mapped;
      }
      if (size == PageSize::large) ++statistics_.large_page_misses;
    }
  }
  const VirtualAddress page = address.rounded_down(page_bytes);
  Backing backing = TRY(ask(region, page, PageSize::small, errand));
  const bool copies = kept && allows(access, Access::write) && region.sharing == Sharing::private_copy;
  if (copies) backing = TRY(copy_of(region, backing));
  TRY(map_backing(region, page, PageSize::small, backing, copies ? Content::copy : own));
  ++statistics_.small_pages;
  return copies ? FaultWork::copied : FaultWork::mapped;
}

// A small page with the content of another, whose reference it takes over.
Result<Backing> AddressSpace::copy_of(const Region& region, const Backing& original) {
  TRY(check_copyable(region, original.physical));  // what is not, nobody counts
  const Result<FrameNumber> copy = services_.frames->allocate(page_order);
  if (copy.ok()) services_.window.copy(copy.value().address(), original.physical, page_bytes);
  if (original.ownership == FrameOwnership::counted) {
    services_.frames->release(FrameNumber::containing(original.physical), page_order);
  }
  if (!copy.ok()) return copy.error();
  ++statistics_.copies;
  return Backing{copy.value().address(), FrameOwnership::counted};
}

Result<void> AddressSpace::map_backing(const Region& region, VirtualAddress address, PageSize size,
                                       const Backing& backing, Content content) {
  const bool counted = backing.ownership == FrameOwnership::counted;
  const MappedPage page{address, backing.physical, size, attributes_of(region, backing.ownership, content)};
  const Result<void> mapped = table_.map(address, backing.physical, size, page.attributes);
  if (mapped.ok()) account_.show(region, page);
  if (counted && mapped.ok()) frames_held_.fetch_add(1u << order_of(size), MemoryOrder::relaxed);
  if (counted && !mapped.ok()) services_.frames->release(FrameNumber::containing(backing.physical), order_of(size));
  return mapped;
}

// A device's registers are no memory to copy, and not in the window.
Result<void> AddressSpace::check_copyable(const Region& region, PhysicalAddress physical) const {
  if (services_.window.contains(physical)) return {};
  return Error::of(ErrorCode::unsupported, "expected memory to copy before a private write, found ",
                   region.object->name(), " at ", physical);
}

// Precondition of the three: the page is counted.
const FrameInfo& AddressSpace::info_of(const MappedPage& page) const {
  const FrameTable& frames = services_.frames->table();
  return frames.info(frames.head_of(FrameNumber::containing(page.physical)));
}
// Every reference to the allocation is this very page.
bool AddressSpace::is_ours_alone(const MappedPage& page) const {
  return info_of(page).references() == (std::uint32_t{1} << order_of(page.size));
}
bool AddressSpace::is_pinned(const MappedPage& page) const { return info_of(page).pins() != 0; }

Result<FaultWork> AddressSpace::raise_access(const Region& region, const MappedPage& page, VirtualAddress address,
                                             Access access) {
  const bool counted = page.attributes.ownership == FrameOwnership::counted;
  const bool may_write = region.sharing == Sharing::shared || (counted && is_ours_alone(page));
  if (allows(access, Access::write) && !may_write) return copy_page(region, page, address);
  PageAttributes attributes = page.attributes;
  attributes.access = may_write ? region.access : without(region.access, Access::write);
  TlbBatch batch(*services_.flusher, *services_.frames);
  TRY(table_.protect(page.address, bytes_of(page.size), batch, [&](const MappedPage&) { return attributes; }));
  return FaultWork::allowed;
}

// The content cannot change meanwhile: nobody may write to a page that is seen by several.
Result<FaultWork> AddressSpace::copy_page(const Region& region, MappedPage page, VirtualAddress address) {
  TRY(check_copyable(region, page.physical));
  TlbBatch batch(*services_.flusher, *services_.frames);
  std::optional<FrameNumber> copy;
  if (page.size != PageSize::small) {
    if (page.size == PageSize::large && page.attributes.ownership == FrameOwnership::counted) {
      auto large = services_.frames->allocate(large_page_order);
      if (large.ok()) copy = large.value();
    }
    if (!copy) {
      TRY(table_.split(address, PageSize::small, batch));
      page = *table_.find(address);
    }
  }
  if (!copy) copy = TRY(services_.frames->allocate(page_order));
  const MappedPage next{page.address, copy->address(), page.size,
                        attributes_of(region, FrameOwnership::counted, Content::copy)};
  services_.window.copy(copy->address(), page.physical, bytes_of(page.size));
  table_.replace(page, copy->address(), next.attributes, batch, releasing(region, batch));
  account_.show(region, next);
  frames_held_.fetch_add(1u << order_of(page.size), MemoryOrder::relaxed);
  ++statistics_.copies;
  return FaultWork::copied;
}

Result<PinnedPiece> AddressSpace::pin(VirtualAddress address, std::uint64_t most_bytes, Access access) {
  for (Errand errand(*services_.frames);; errand.run()) {
    const MutexGuard guard(mutex_);
    const Region* region = regions_.find(address);
    // A private page that may be written is made ours now: a later write would leave the device with the old copy.
    const bool copies =
        region != nullptr && region->sharing == Sharing::private_copy && allows(region->access, Access::write);
    const Result<FaultWork> work = answer(address, copies ? access | Access::write : access, errand);
    if (work.ok()) return pin_present(*region, *table_.find(address), address, most_bytes);
    if (work.error().code() != ErrorCode::would_block) return work.error();
  }
}

Result<PinnedPiece> AddressSpace::pin_present(const Region& region, const MappedPage& page, VirtualAddress address,
                                              std::uint64_t most_bytes) {
  const std::uint64_t offset = address - page.address;
  const std::uint64_t rest = bytes_of(page.size) - offset;
  PinnedPiece piece{page.physical + offset, rest < most_bytes ? rest : most_bytes, nullptr, region.offset_of(address)};
  if (page.attributes.ownership == FrameOwnership::counted) {
    TRY(services_.frames->pin(FrameNumber::containing(piece.physical)));
  } else {
    TRY(region.object->pin(piece.object_offset, piece.bytes));
    piece.lender = region.object;
    piece.owner = region.owner;
  }
  return piece;
}

}  // namespace ingot::os
