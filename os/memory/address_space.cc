#include "os/memory/address_space.h"

#include <utility>

#include "os/schedule/scheduler.h"

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
  for (std::size_t index = 0; index < regions_.size(); ++index) {
    const Region& region = regions_[index];
    static_cast<void>(table_.unmap(region.begin, region.bytes, batch, releasing(region, batch)));
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
  return region.begin;
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
  const std::size_t index = regions_.first_behind(address);
  while (index < regions_.size() && regions_[index].begin < address + bytes) {
    Region& region = regions_.take(index);
    // Nothing crosses its ends any more: it cannot fail.
    static_cast<void>(table_.unmap(region.begin, region.bytes, batch, releasing(region, batch)));
    account_.remove(region);
    batch.finish();
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
  for (std::size_t index = regions_.first_behind(address); index < regions_.size(); ++index) {
    const Region& region = regions_[index];
    const VirtualAddress begin = region.begin > address ? region.begin : address;
    const VirtualAddress end = region.last() < address + (bytes - 1) ? region.last() + 1 : address + bytes;
    if (begin >= end) break;
    static_cast<void>(table_.unmap(begin, end - begin, batch, releasing(region, batch)));
    batch.finish();
    region.object->let_go(region.offset_of(begin), end - begin, region);
  }
  return {};
}

Result<void> AddressSpace::copy_pages(VirtualAddress from, VirtualAddress to, std::uint64_t bytes) {
  const MutexGuard guard(mutex_);
  for (std::uint64_t offset = 0; offset < bytes; offset += page_bytes) {
    const std::optional<MappedPage> source = table_.find(from + offset);
    if (!source) continue;
    TRY(answer(to + offset, Access::write));
    const MappedPage target = *table_.find(to + offset);
    services_.window.copy(target.physical + (to + offset - target.address),
                          source->physical + (from + offset - source->address), page_bytes);
  }
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
  VirtualAddress covered = address;
  for (std::size_t index = regions_.first_behind(address); covered < address + bytes; ++index) {
    if (index == regions_.size() || regions_[index].begin > covered) {
      return Error::of(ErrorCode::not_found, "expected a region at ", covered, ", found none");
    }
    covered = regions_[index].last() + 1;
  }
  TlbBatch batch(*services_.flusher, *services_.frames);
  TRY(make_borders(address, bytes, batch));
  for (std::size_t index = regions_.first_behind(address); index < regions_.size(); ++index) {
    Region& region = regions_[index];
    if (region.begin >= address + bytes) break;
    region.access = access;
    // A private page that was not writable may be seen by others: the first write will tell.
    TRY(table_.protect(region.begin, region.bytes, batch, [&](const MappedPage& page) {
      PageAttributes attributes = page.attributes;
      const bool stays_writable = region.sharing == Sharing::shared || allows(attributes.access, Access::write);
      attributes.access = stays_writable ? access : without(access, Access::write);
      return attributes;
    }));
  }
  return {};
}

Result<Owned<AddressSpace>> AddressSpace::clone(const NativePageTable* kernel) {
  MemoryServices services = services_;
  services.account = nullptr;
  Owned<AddressSpace> child = TRY(create(services, kernel, low_, high_));
  const MutexGuard guard(mutex_);  // the child is nobody else's yet
  for (std::size_t index = 0; index < regions_.size(); ++index) {
    const Region& region = regions_[index];
    RegionFields copy = region;
    copy.space = child.get();
    TRY(child->regions_.insert(copy));
    if (region.sharing == Sharing::private_copy) TRY(share_pages(region, *child));
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

Result<void> MemoryObject::invalidate(std::uint64_t offset, std::uint64_t bytes) {
  Result<void> outcome;
  const auto withdraw_all = [&](auto& all) {
    for (Region& region : all) {
      const std::uint64_t region_end = region.object_offset + region.bytes;
      const std::uint64_t begin = offset > region.object_offset ? offset : region.object_offset;
      const std::uint64_t end = offset + bytes < region_end ? offset + bytes : region_end;
      if (begin >= end) continue;
      const auto done = region.space->try_withdraw(region, region.begin + (begin - region.object_offset), end - begin);
      if (!done) return false;
      if (!done->ok()) outcome = done->error();
    }
    return true;
  };
  while (!regions_.with(withdraw_all)) current_scheduler().yield();
  return outcome;
}

}  // namespace ingot::os
