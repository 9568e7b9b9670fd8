#include "os/process/program_memory.h"

#include "os/memory/kernel_memory.h"
#include "os/memory/user_memory.h"
#include "os/process/program_places.h"
#include "os/process/secure_random.h"

namespace ingot::os {

namespace {

// Below, a null pointer with an offset faults.
constexpr VirtualAddress lowest_user_address{64 * 1024};

}  // namespace

Result<Owned<ProgramMemory>> ProgramMemory::create(KernelMemory& memory, SecureRandom& random, std::uint64_t limit,
                                                   WritableCode writable_code) {
  Owned<ProgramMemory> made = TRY(make_owned<ProgramMemory>(memory.heap(), memory, random, limit, writable_code));
  MemoryServices services = memory.services();
  services.account = &made->account_;
  services.allows_writable_code = writable_code == WritableCode::granted;
  made->space_ = TRY(AddressSpace::create(services, &memory.table(), lowest_user_address, user_memory_end));
  return made;
}

ProgramMemory::ProgramMemory(KernelMemory& memory, SecureRandom& random, std::uint64_t limit,
                             WritableCode writable_code)
    : heap_(memory.heap()),
      random_(random),
      zeroes_(memory.frames(), memory.window()),
      account_(limit),
      writable_code_(writable_code),
      lowest_mapping_(program_places::mappings.draw(random.number())) {}

Answer<VirtualAddress> ProgramMemory::map(const Mapping& mapping) {
  RemovedRegions removed(heap_);
  const MutexGuard guard(changes_);
  const bool is_promise = mapping.sharing == Sharing::private_copy && allows(mapping.access, Access::write) &&
                          mapping.purpose == RegionPurpose::general;
  // Before what lies there goes.
  if (is_promise && !account_.has_room(mapping.bytes - mapping.guard_bytes)) return Errno::enomem;
  if (mapping.address && mapping.replaces) TRY(space_->remove(*mapping.address, mapping.bytes, removed));
  const Result<VirtualAddress> place =
      space_->add({.object = mapping.object != nullptr ? mapping.object : &zeroes_,
                   .object_offset = mapping.object_offset,
                   .bytes = mapping.bytes,
                   .access = mapping.access,
                   .most_access = mapping.most_access,
                   .sharing = mapping.object != nullptr ? mapping.sharing : Sharing::private_copy,
                   .purpose = mapping.purpose,
                   .guard_bytes = mapping.guard_bytes,
                   .address = mapping.address,
                   .lowest = lowest_mapping_,
                   .owner = mapping.owner,
                   .locked = locks_new_});
  if (!place.ok()) {
    const ErrorCode code = place.error().code();
    if (code == ErrorCode::out_of_memory || code == ErrorCode::denied) return errno_of(code);
    return mapping.address && !mapping.replaces ? Errno::eexist : Errno::einval;
  }
  return place.value();
}

Answer<void> ProgramMemory::unmap(VirtualAddress address, std::uint64_t bytes) {
  RemovedRegions removed(heap_);
  const MutexGuard guard(changes_);
  TRY(space_->remove(address, bytes, removed));
  return {};
}

Answer<void> ProgramMemory::protect(VirtualAddress address, std::uint64_t bytes, Access access) {
  const MutexGuard guard(changes_);
  const Result<void> changed = space_->protect(address, bytes, access);
  if (changed.ok()) return {};
  // As Linux has it: no region there.
  return changed.error().code() == ErrorCode::not_found ? Errno::enomem : errno_of(changed.error().code());
}

Answer<void> ProgramMemory::discard(VirtualAddress address, std::uint64_t bytes) {
  TRY(space_->discard(address, bytes));
  return {};
}

Answer<VirtualAddress> ProgramMemory::resize(VirtualAddress address, std::uint64_t old_bytes, std::uint64_t new_bytes,
                                             bool may_move) {
  if (new_bytes <= old_bytes) {
    if (new_bytes < old_bytes) TRY(unmap(address + new_bytes, old_bytes - new_bytes));
    return address;
  }
  const MutexGuard guard(changes_);
  Result<VirtualAddress> place = space_->grow(address, old_bytes, new_bytes);
  if (!place.ok() && place.error().code() == ErrorCode::out_of_memory && may_move) {
    place = space_->move(address, old_bytes, new_bytes, lowest_mapping_);
  }
  if (place.ok()) return place.value();
  const ErrorCode code = place.error().code();
  return code == ErrorCode::not_found ? Errno::efault : code == ErrorCode::overflow ? Errno::einval : errno_of(code);
}

Answer<void> ProgramMemory::lock(VirtualAddress address, std::uint64_t bytes, bool locked) {
  const MutexGuard guard(changes_);
  const Result<void> changed = space_->set_locked(address, bytes, locked);
  if (changed.ok()) return {};
  return changed.error().code() == ErrorCode::not_found ? Errno::enomem : errno_of(changed.error().code());
}

Answer<void> ProgramMemory::lock_all(bool present, bool later) {
  const MutexGuard guard(changes_);
  locks_new_ = later;
  if (later && !present) return {};
  for (VirtualAddress from{};;) {
    std::optional<RegionFields> region;
    space_->each_region(from, [&](const RegionFields& next) {
      region = next;
      return false;
    });
    if (!region) return {};
    TRY(space_->set_locked(region->begin, region->bytes, present));
    from = region->begin + region->bytes;
  }
}

VirtualAddress ProgramMemory::draw(const ProgramPlace& place) { return place.draw(random_.number()); }

void ProgramMemory::begin_heap(VirtualAddress program_end) {
  constexpr std::uint64_t heap_places = 8192;  // pages: within 32 MiB, as on Linux
  heap_begin_ = heap_end_ = program_end + random_.number() % heap_places * page_bytes;
}

VirtualAddress ProgramMemory::set_heap_end(VirtualAddress end) {
  const MutexGuard guard(changes_);
  if (end < heap_begin_ || end > user_memory_end) return heap_end_;
  const VirtualAddress old_pages = heap_end_.rounded_up(page_bytes), new_pages = end.rounded_up(page_bytes);
  if (new_pages > old_pages) {
    const std::uint64_t more = new_pages - old_pages;
    const auto added =
        space_->add({.object = &zeroes_, .bytes = more, .access = Access::read | Access::write, .address = old_pages});
    if (!added.ok()) return heap_end_;
  } else if (new_pages < old_pages && !space_->remove(new_pages, old_pages - new_pages).ok()) {
    return heap_end_;
  }
  heap_end_ = end;
  return heap_end_;
}

}  // namespace ingot::os
