#include "os/memory/address_space.h"

#include <utility>

namespace ingot::os {

Result<Owned<AddressSpace>> AddressSpace::create(const MemoryServices& services, const NativePageTable* kernel,
                                                 VirtualAddress low, VirtualAddress high) {
  const PageSize largest = kernel != nullptr ? kernel->largest_page() : PageSize::giant;
  NativePageTable table = TRY(NativePageTable::create(*services.frames, services.window, largest));
  if (kernel != nullptr) table.share_upper_half(*kernel);
  const PhysicalAddress root = table.root();
  auto space = make_owned<AddressSpace>(*services.heap, services, std::move(table), low, high);
  if (!space.ok()) services.frames->release(FrameNumber::containing(root), page_order);
  return space;
}

AddressSpace::AddressSpace(const MemoryServices& services, NativePageTable table, VirtualAddress low,
                           VirtualAddress high)
    : services_(services),
      table_(std::move(table)),
      regions_(*services.heap),
      low_(low),
      high_(high),
      account_(services.account != nullptr ? *services.account : nobodys_account_) {
  if (services.spaces != nullptr) services.spaces->with([this](auto& all) { all.push_back(*this); });
}

AddressSpace::~AddressSpace() {
  if (services_.spaces != nullptr) services_.spaces->with([this](auto& all) { all.remove(*this); });
  TlbBatch batch(*services_.flusher, *services_.frames);
  // Whole regions go, and no page crosses a region's end: nothing needs to be split, so nothing fails.
  for (const Region* region = regions_.first(); region != nullptr; region = regions_.after(*region)) {
    static_cast<void>(table_.unmap(region->begin, region->bytes, batch, releasing(*region, batch)));
  }
  batch.finish();
  table_.destroy();
}

Result<void> AddressSpace::check_range(VirtualAddress address, std::uint64_t bytes) const {
  const bool whole_pages = address.aligned(page_bytes) && is_aligned(bytes, page_bytes) && bytes != 0;
  if (whole_pages && address >= low_ && address < high_ && bytes <= high_ - address) return {};
  return Error::of(ErrorCode::invalid_argument, "expected whole pages within [", low_, ", ", high_, "), found ", bytes,
                   " bytes at ", address);
}

Result<VirtualAddress> AddressSpace::add(const RegionRequest& request) {
  RegionFields region;
  region.bytes = request.bytes;
  region.guard_bytes = request.guard_bytes;
  region.access = request.access;
  region.most_access = request.most_access;
  region.locked = request.locked;
  region.sharing = request.sharing;
  region.object = request.object;
  region.object_offset = request.object_offset;
  region.space = this;
  region.owner = request.owner;
  const bool is_private = request.sharing == Sharing::private_copy && allows(request.access, Access::write);
  region.promised = is_private && request.purpose == RegionPurpose::general;
  const bool copies = is_private && request.object->pages() == MemoryObject::Pages::kept;
  // Copying goes by small pages: a large one of the object's own would be split at once.
  const bool large = request.purpose == RegionPurpose::general && request.access != Access::none && !copies &&
                     request.bytes >= large_page_bytes;
  region.policy = large ? PagePolicy::large_first : PagePolicy::small;

  const MutexGuard guard(mutex_);
  // Where the object's own large pages begin, the region's shall.
  const bool giant = large && request.object->largest_page() == PageSize::giant && request.bytes >= giant_page_bytes;
  const std::uint64_t alignment = giant ? giant_page_bytes : large ? large_page_bytes : page_bytes;
  const std::uint64_t phase = (request.object->phase() + request.object_offset) % alignment;
  std::optional<VirtualAddress> place = request.address;
  if (!place && request.lowest > low_)
    place = regions_.find_gap(request.bytes, alignment, phase, request.lowest, high_);
  if (!place) place = regions_.find_gap(request.bytes, alignment, phase, low_, high_);
  if (!place) {
    return Error::of(ErrorCode::out_of_memory, "expected a gap of ", request.bytes,
                     " bytes between the regions, found none");
  }
  region.begin = *place;
  TRY(check_range(region.begin, region.bytes));
  if (!regions_.is_free(region.begin, region.bytes)) {
    return Error::of(ErrorCode::invalid_argument, "expected no region in ", region.bytes, " bytes at ", region.begin,
                     ", found one");
  }
  if (is_refused(request.access) || !is_aligned(request.object_offset, page_bytes) ||
      !is_aligned(request.guard_bytes, page_bytes) || request.guard_bytes > request.bytes) {
    return Error::of(ErrorCode::invalid_argument, "expected offset and guard in whole pages, and no page writable and ",
                     "executable at once, found offset ", request.object_offset, ", guard ", request.guard_bytes, ", ",
                     request.access);
  }
  if (request.sharing == Sharing::shared && request.object->pages() == MemoryObject::Pages::fresh) {
    return Error::of(ErrorCode::unsupported, "expected memory that can be shared, found ", request.object->name());
  }
  TRY(account_.allow(region));
  TRY(regions_.insert(region));
  account_.add(region);
  join_within(region.begin, region.bytes);
  return region.begin;
}

// Each region of a range is there, and may be given the access.
Result<void> AddressSpace::check_covered(VirtualAddress address, std::uint64_t bytes, Access access) const {
  for (VirtualAddress covered = address; covered < address + bytes;) {
    const Region* const region = regions_.find(covered);
    if (region == nullptr) return Error::of(ErrorCode::not_found, "expected a region at ", covered, ", found none");
    if (!allows(region->most_access, access)) {
      return Error::of(ErrorCode::denied, "expected at most ", region->most_access, " of ", region->object->name(),
                       " at ", covered, ", found ", access);
    }
    covered = region->end();
  }
  return {};
}

void AddressSpace::join_within(VirtualAddress address, std::uint64_t bytes) {
  for (VirtualAddress border = address; border < address + bytes;) {
    regions_.join_at(border);
    const Region* const region = regions_.first_behind(border);
    if (region == nullptr) return;
    border = region->end();
  }
  regions_.join_at(address + bytes);
}

// Pages before regions: wherever it fails, no page crosses a region's end.
Result<void> AddressSpace::make_borders(VirtualAddress address, std::uint64_t bytes, TlbBatch& batch) {
  TRY(table_.split_at_ends(address, bytes, batch));
  TRY(regions_.split_at(address));
  return regions_.split_at(address + bytes);
}

Result<void> AddressSpace::remove(VirtualAddress address, std::uint64_t bytes, RemovedRegions& removed) {
  TRY(check_range(address, bytes));
  const MutexGuard guard(mutex_);
  TlbBatch batch(*services_.flusher, *services_.frames);
  TRY(make_borders(address, bytes, batch));
  for (Region* next = regions_.first_behind(address); next != nullptr && next->begin < address + bytes;) {
    Region& region = *std::exchange(next, regions_.after(*next));
    // Nothing crosses its ends any more: it cannot fail. CPUs forget its pages before its object does.
    static_cast<void>(table_.unmap(region.begin, region.bytes, batch, releasing(region, batch)));
    batch.finish();
    regions_.take(region);
    account_.remove(region);
    region.object->let_go(region.object_offset, region.bytes, region);
    removed.add(region);
  }
  return {};
}

Result<void> AddressSpace::discard(VirtualAddress address, std::uint64_t bytes) {
  TRY(check_range(address, bytes));
  const MutexGuard guard(mutex_);
  TlbBatch batch(*services_.flusher, *services_.frames);
  TRY(table_.split_at_ends(address, bytes, batch));
  each_part(address, bytes, [&](const Region& region, VirtualAddress begin, std::uint64_t part) {
    static_cast<void>(table_.unmap(begin, part, batch, releasing(region, batch)));
    batch.finish();
    region.object->let_go(region.offset_of(begin), part, region);
  });
  return {};
}

std::optional<RegionFields> AddressSpace::region_at(VirtualAddress address) {
  const MutexGuard guard(mutex_);
  const Region* region = regions_.find(address);
  if (region == nullptr) return std::nullopt;
  return *region;
}

Result<void> AddressSpace::protect(VirtualAddress address, std::uint64_t bytes, Access access) {
  TRY(check_range(address, bytes));
  if (is_refused(access)) {
    return Error::of(ErrorCode::invalid_argument, "expected pages that are not writable and executable at once, found ",
                     access, " at ", address);
  }
  const MutexGuard guard(mutex_);
  TRY(check_covered(address, bytes, access));
  TlbBatch batch(*services_.flusher, *services_.frames);
  TRY(make_borders(address, bytes, batch));
  // The lowest first; where an object refuses, those before it have changed, as on Linux.
  for (Region* region = regions_.find(address); region != nullptr && region->begin < address + bytes;
       region = regions_.after(*region)) {
    const Result<void> changed = change_access(*region, access, batch);
    if (changed.ok()) continue;
    join_within(address, bytes);
    return changed;
  }
  join_within(address, bytes);
  return {};
}

Result<void> AddressSpace::change_access(Region& region, Access access, TlbBatch& batch) {
  const auto set_pages = [&](Access most) {
    return table_.protect(region.begin, region.bytes, batch, [&](const MappedPage& page) {
      PageAttributes attributes = page.attributes;
      // A private page that was not writable may be seen by others: the first write will tell.
      const bool stays_writable = region.sharing == Sharing::shared || allows(attributes.access, Access::write);
      attributes.access = stays_writable ? most : without(most, Access::write);
      return attributes;
    });
  };
  // What goes is forgotten by every CPU before the object may give it to others.
  if (region.object->pages() == MemoryObject::Pages::kept && !allows(access, region.access)) {
    TRY(set_pages(region.access & access));
    batch.finish();
  }
  TRY(region.object->show(region, access));
  return set_pages(access);
}

Result<void> AddressSpace::set_locked(VirtualAddress address, std::uint64_t bytes, bool locked) {
  TRY(check_range(address, bytes));
  const MutexGuard guard(mutex_);
  TRY(check_covered(address, bytes, Access::none));
  TlbBatch batch(*services_.flusher, *services_.frames);
  TRY(make_borders(address, bytes, batch));
  each_part(address, bytes, [&](Region& region, VirtualAddress, std::uint64_t) { region.locked = locked; });
  join_within(address, bytes);
  return {};
}

Result<VirtualAddress> AddressSpace::grow(VirtualAddress from, std::uint64_t old_bytes, std::uint64_t new_bytes) {
  const MutexGuard guard(mutex_);
  RegionFields more = TRY(part_of_one(from, old_bytes));
  more.begin += old_bytes;
  more.object_offset += old_bytes;
  more.bytes = new_bytes - old_bytes;
  TRY(check_range(more.begin, more.bytes));
  if (!regions_.is_free(more.begin, more.bytes)) {
    return Error::of(ErrorCode::out_of_memory, "expected room for ", more.bytes, " bytes at ", more.begin);
  }
  TRY(account_.allow(more));
  TRY(regions_.insert(more));
  account_.add(more);
  join_within(more.begin, more.bytes);
  return from;
}

// As a region of its own would be.
Result<RegionFields> AddressSpace::part_of_one(VirtualAddress begin, std::uint64_t bytes) const {
  TRY(check_range(begin, bytes));
  const Region* const region = regions_.find(begin);
  if (region == nullptr || bytes > region->end() - begin || region->guards(begin)) {
    return Error::of(ErrorCode::not_found, "expected one region with ", bytes, " bytes at ", begin, ", found none");
  }
  RegionFields part = *region;
  part.begin = begin;
  part.bytes = bytes;
  part.object_offset = region->offset_of(begin);
  part.guard_bytes = 0;
  return part;
}

// By its page table: no memory is needed but for tables, and none for both places at once.
Result<VirtualAddress> AddressSpace::move(VirtualAddress from, std::uint64_t old_bytes, std::uint64_t new_bytes,
                                          VirtualAddress lowest) {
  const MutexGuard guard(mutex_);
  RegionFields moved = TRY(part_of_one(from, old_bytes));
  // Large pages shall fit where they are mapped next.
  const std::uint64_t alignment = old_bytes >= giant_page_bytes ? giant_page_bytes : large_page_bytes;
  const std::optional<VirtualAddress> to =
      regions_.find_gap(new_bytes, alignment, from.value() % alignment, lowest, high_);
  if (!to) return Error::of(ErrorCode::out_of_memory, "expected a gap of ", new_bytes, " bytes, found none");
  moved.begin = *to;
  moved.bytes = new_bytes - old_bytes;  // no more than that is new
  TRY(account_.allow(moved));
  moved.bytes = new_bytes;
  TlbBatch batch(*services_.flusher, *services_.frames);
  TRY(make_borders(from, old_bytes, batch));
  TRY(regions_.insert(moved));
  Result<void> outcome;
  table_.for_each(from, old_bytes, [&](const MappedPage& page) {
    if (!outcome.ok()) return;
    const Result<void> mapped = table_.map(*to + (page.address - from), page.physical, page.size, page.attributes);
    if (!mapped.ok()) outcome = mapped;
  });
  Region& left = outcome.ok() ? *regions_.find(from) : *regions_.find(*to);
  static_cast<void>(table_.unmap(left.begin, old_bytes, batch, [&](const MappedPage& page) {
    if (page.dirty && left.sharing == Sharing::shared) left.object->note_writing();
  }));
  batch.finish();
  if (outcome.ok()) {
    account_.remove(left);
    account_.add(moved);
  }
  regions_.destroy(left);  // not the last that shows its object
  join_within(outcome.ok() ? *to : from, outcome.ok() ? new_bytes : old_bytes);
  TRY(outcome);
  return *to;
}

void AddressSpace::note_writing(VirtualAddress address, std::uint64_t bytes) {
  const MutexGuard guard(mutex_);
  TlbBatch batch(*services_.flusher, *services_.frames);
  each_part(address, bytes, [&](Region& region, VirtualAddress begin, std::uint64_t part) {
    if (region.sharing == Sharing::shared && table_.take_dirty(begin, part, batch)) region.object->note_writing();
  });
}

Result<Owned<AddressSpace>> AddressSpace::clone(const NativePageTable* kernel) {
  MemoryServices services = services_;
  services.account = nullptr;
  Owned<AddressSpace> child = TRY(create(services, kernel, low_, high_));
  const MutexGuard guard(mutex_);  // the child is nobody else's yet
  for (const Region* region = regions_.first(); region != nullptr; region = regions_.after(*region)) {
    RegionFields copy = *region;
    copy.space = child.get();
    TRY(child->regions_.insert(copy));
    if (region->sharing == Sharing::private_copy) TRY(share_pages(*region, *child));
  }
  return child;
}

// Pages that the object keeps are left out: the child asks for them itself.
Result<void> AddressSpace::share_pages(const Region& region, AddressSpace& child) {
  Result<void> outcome;
  table_.for_each(region.begin, region.bytes, [&](const MappedPage& page) {
    if (!outcome.ok() || page.attributes.ownership == FrameOwnership::borrowed) return;
    const FrameNumber frame = FrameNumber::containing(page.physical);
    PageAttributes attributes = page.attributes;
    attributes.access = without(attributes.access, Access::write);
    FrameNumber childs_frame = frame;
    if (!is_pinned(page)) {
      services_.frames->table()
          .info(services_.frames->table().head_of(frame))
          .add_references(1u << order_of(page.size));
    } else {
      // A device writes into this frame, and the parent must go on seeing it: the child gets a copy at once.
      auto copy = services_.frames->allocate(order_of(page.size));
      if (!copy.ok()) {
        outcome = copy.error();
        return;
      }
      childs_frame = copy.value();
      services_.window.copy(childs_frame.address(), page.physical, bytes_of(page.size));
    }
    auto mapped = child.table_.map(page.address, childs_frame.address(), page.size, attributes);
    if (mapped.ok()) {
      child.frames_held_.fetch_add(1u << order_of(page.size), MemoryOrder::relaxed);
      return;
    }
    services_.frames->release(childs_frame, order_of(page.size));
    outcome = mapped;
  });
  TRY(outcome);
  TlbBatch batch(*services_.flusher, *services_.frames);
  return table_.protect(region.begin, region.bytes, batch, [&](const MappedPage& page) {
    PageAttributes attributes = page.attributes;
    if (attributes.ownership == FrameOwnership::counted && !is_pinned(page))
      attributes.access = without(attributes.access, Access::write);
    return attributes;
  });
}

std::optional<Result<void>> AddressSpace::try_withdraw(const Region& region, VirtualAddress address,
                                                       std::uint64_t bytes) {
  if (!mutex_.try_lock()) return std::nullopt;
  const auto objects_own = [&](const MappedPage& page) {
    return region.sharing == Sharing::shared || page.attributes.ownership == FrameOwnership::borrowed;
  };
  TlbBatch batch(*services_.flusher, *services_.frames);
  const Result<void> outcome = table_.unmap(address, bytes, batch, releasing(region, batch), objects_own);
  batch.finish();
  mutex_.unlock();
  return outcome;
}

}  // namespace ingot::os
