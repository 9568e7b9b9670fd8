// Memory: mappings and the heap (man 2 mmap, brk, madvise).
#include "os/boot/kernel.h"
#include "os/process/process.h"
#include "os/syscall/table.h"

namespace ingot::os {

namespace {

namespace protection {
constexpr std::uint32_t read = 1, write = 2, execute = 4, all = read | write | execute;
}
namespace map_flag {
constexpr std::uint32_t private_copy = 2, shared_checked = 3, kind = 0xf, fixed = 0x10, anonymous = 0x20,
                        no_reserve = 0x4000, stack = 0x20000, fixed_free = 0x100000;
}

Answer<Access> access_of(Caller& caller, std::uint32_t bits) {
  if ((bits & ~protection::all) != 0) return Errno::einval;
  Access access = Access::none;
  if (bits != 0) access = Access::read;
  if ((bits & protection::write) != 0) access = access | Access::write;
  if ((bits & protection::execute) != 0) access = access | Access::execute;
  const bool writable_code = allows(access, Access::write | Access::execute);
  if (writable_code && caller.process.memory().writable_code() == WritableCode::refused) return Errno::eacces;
  return access;
}

Answer<std::uint64_t> whole_pages(std::uint64_t bytes) {
  if (bytes == 0) return Errno::einval;
  if (bytes > user_memory_end.value()) return Errno::enomem;
  return round_up(bytes, page_bytes);
}

Answer<VirtualAddress> map_memory(Caller& caller, VirtualAddress wanted, std::uint64_t length, std::uint32_t bits,
                                  std::uint32_t flags, int descriptor, std::uint64_t offset) {
  const std::uint32_t kind = flags & map_flag::kind;
  if (kind == 0 || kind > map_flag::shared_checked || offset % page_bytes != 0) return Errno::einval;
  ProgramMemory::Mapping mapping;
  mapping.bytes = TRY(whole_pages(length));
  mapping.access = TRY(access_of(caller, bits));
  mapping.sharing = kind == map_flag::private_copy ? Sharing::private_copy : Sharing::shared;
  if ((flags & map_flag::no_reserve) != 0 || mapping.access == Access::none) {
    mapping.purpose = RegionPurpose::reservation;
  } else if ((flags & map_flag::stack) != 0) {
    mapping.purpose = RegionPurpose::stack;
  }
  if ((flags & (map_flag::fixed | map_flag::fixed_free)) != 0) {
    if (!wanted.aligned(page_bytes)) return Errno::einval;
    mapping.address = wanted;
    mapping.replaces = (flags & map_flag::fixed_free) == 0;
  }
  if ((flags & map_flag::anonymous) == 0) {
    const Reference<FileDescription> file = TRY(caller.process.files().descriptors().find(descriptor));
    const bool writes_file = mapping.sharing == Sharing::shared && allows(mapping.access, Access::write);
    if (offset > ~std::uint64_t{0} - mapping.bytes) return Errno::eoverflow;
    if (!file->readable() || (writes_file && !file->writable())) return Errno::eacces;
    if (mapping.sharing == Sharing::shared && !file->writable()) {
      mapping.most_access = without(every_access, Access::write);
    }
    FileMapping shown = TRY(file->mapping(offset, mapping.bytes, mapping.access));
    mapping.object = shown.object;
    mapping.object_offset = offset;
    mapping.owner = shown.owner;
  }
  return caller.process.memory().map(mapping);
}

Answer<void> unmap_memory(Caller& caller, VirtualAddress address, std::uint64_t length) {
  return caller.process.memory().unmap(address, TRY(whole_pages(length)));
}

Answer<void> protect_memory(Caller& caller, VirtualAddress address, std::uint64_t length, std::uint32_t bits) {
  if (!address.aligned(page_bytes)) return Errno::einval;
  if (length == 0) return {};
  const Access access = TRY(access_of(caller, bits));
  return caller.process.memory().protect(address, TRY(whole_pages(length)), access);
}

Answer<VirtualAddress> set_heap_end(Caller& caller, VirtualAddress end) {
  return caller.process.memory().set_heap_end(end);
}

Answer<VirtualAddress> remap_memory(Caller& caller, VirtualAddress address, std::uint64_t old_length,
                                    std::uint64_t new_length, std::uint32_t flags) {
  constexpr std::uint32_t may_move = 1;
  if ((flags & ~may_move) != 0 || !address.aligned(page_bytes)) return Errno::einval;
  const std::uint64_t old_bytes = TRY(whole_pages(old_length)), new_bytes = TRY(whole_pages(new_length));
  return caller.process.memory().resize(address, old_bytes, new_bytes, flags == may_move);
}

// Shows each mapping of a range to `visit`, with the begin and the bytes of what it has there. ENOMEM where a part has
// none, after the others were seen.
template <class Visit>
Answer<void> each_mapping(Caller& caller, VirtualAddress address, std::uint64_t bytes, Visit&& visit) {
  if (address > user_memory_end || bytes > user_memory_end - address) return Errno::enomem;
  bool has_hole = false;
  for (const VirtualAddress end = address + bytes; address < end;) {
    std::optional<RegionFields> region;
    caller.process.space().each_region(address, [&](const RegionFields& next) {
      region = next;
      return false;
    });
    if (!region || region->begin >= end) return Errno::enomem;
    if (region->begin > address) {
      has_hole = true;
      address = region->begin;
    }
    const VirtualAddress next = region->begin + region->bytes < end ? region->begin + region->bytes : end;
    TRY(visit(*region, address, next - address));
    address = next;
  }
  if (has_hole) return Errno::enomem;
  return {};
}

namespace advice {
constexpr int do_not_need = 4, free_if_needed = 8, remove = 9, wipe_on_fork = 18, populate_read = 22,
              populate_write = 23, do_not_need_locked = 24;
}

Answer<void> populate(Caller& caller, VirtualAddress address, std::uint64_t bytes, Access access) {
  for (std::uint64_t offset = 0; offset < bytes; offset += page_bytes) {
    const Result<FaultWork> work = caller.process.space().fault(address + offset, access);
    if (!work.ok()) {
      const ErrorCode code = work.error().code();
      if (code == ErrorCode::not_found) return Errno::enomem;  // unmapped meanwhile
      if (code == ErrorCode::invalid_argument || code == ErrorCode::out_of_memory) return errno_of(code);
      return Errno::efault;
    }
    if (caller.thread.is_interrupted()) return Errno::restart;
    if (offset % large_page_bytes == 0) caller.kernel.scheduler.yield();  // the kernel is not preempted
  }
  return {};
}

// What changes nothing but speed is believed; the rest is done, or refused as by a Linux that has it not.
Answer<void> follow(Caller& caller, int advised, const RegionFields& region, VirtualAddress begin,
                    std::uint64_t bytes) {
  ProgramMemory& memory = caller.process.memory();
  const bool is_file = region.object != &memory.zeroes();
  switch (advised) {
    case advice::populate_read: return populate(caller, begin, bytes, Access::read);
    case advice::populate_write: return populate(caller, begin, bytes, Access::write);
    case advice::remove:  // a hole in the file
      if (region.locked || !is_file) return Errno::einval;
      if (region.sharing != Sharing::shared || !allows(region.most_access, Access::write)) return Errno::eacces;
      return Errno::eopnotsupp;
    case advice::free_if_needed:
      if (is_file) return Errno::einval;
      [[fallthrough]];
    case advice::do_not_need:
      if (region.locked) return Errno::einval;
      [[fallthrough]];
    case advice::do_not_need_locked: return memory.discard(begin, bytes);
    default: return {};
  }
}

Answer<void> advise(Caller& caller, VirtualAddress address, std::uint64_t length, int advised) {
  const bool is_known = (advised >= 0 && advised <= advice::do_not_need) ||
                        (advised >= advice::free_if_needed && advised <= advice::do_not_need_locked);
  if (!address.aligned(page_bytes) || !is_known || advised == advice::wipe_on_fork) return Errno::einval;
  if (length == 0) return {};
  const auto follow_each = [&](const RegionFields& region, VirtualAddress begin, std::uint64_t bytes) {
    return follow(caller, advised, region, begin, bytes);
  };
  return each_mapping(caller, address, TRY(whole_pages(length)), follow_each);
}

// A file's pages are its memory: what a mapping writes, the file holds. Its times change now.
Answer<void> synchronize_memory(Caller& caller, VirtualAddress address, std::uint64_t length, std::uint32_t flags) {
  constexpr std::uint32_t later = 1, invalidate = 2, now = 4;
  if (!address.aligned(page_bytes) || (flags & ~(later | invalidate | now)) != 0) return Errno::einval;
  if ((flags & later) != 0 && (flags & now) != 0) return Errno::einval;
  if (length == 0) return {};
  const auto synchronize = [&](const RegionFields& region, VirtualAddress begin, std::uint64_t bytes) -> Answer<void> {
    if (region.locked && (flags & invalidate) != 0) return Errno::ebusy;
    caller.process.space().note_writing(begin, bytes);
    return {};
  };
  return each_mapping(caller, address, TRY(whole_pages(length)), synchronize);
}

// Memory is never written out, and so is locked anyway. What was locked is remembered for those who ask.
Answer<void> mark_locked(Caller& caller, VirtualAddress address, std::uint64_t length, bool locked) {
  const VirtualAddress begin = address.rounded_down(page_bytes);
  const std::uint64_t bytes = length + (address - begin);
  if (bytes < length) return Errno::einval;
  if (length == 0) return {};
  const std::uint64_t pages = TRY(whole_pages(bytes));
  if (begin > user_memory_end || pages > user_memory_end - begin) return Errno::enomem;
  return caller.process.memory().lock(begin, pages, locked);
}
Answer<void> lock_memory(Caller& caller, VirtualAddress address, std::uint64_t length) {
  return mark_locked(caller, address, length, true);
}
Answer<void> lock_memory_by(Caller& caller, VirtualAddress address, std::uint64_t length, std::uint32_t flags) {
  constexpr std::uint32_t on_fault = 1;
  if ((flags & ~on_fault) != 0) return Errno::einval;
  return mark_locked(caller, address, length, true);
}
Answer<void> unlock_memory(Caller& caller, VirtualAddress address, std::uint64_t length) {
  return mark_locked(caller, address, length, false);
}
Answer<void> lock_all_memory(Caller& caller, std::uint32_t flags) {
  constexpr std::uint32_t present = 1, later = 2, on_fault = 4;
  if (flags == 0 || flags == on_fault || (flags & ~(present | later | on_fault)) != 0) return Errno::einval;
  return caller.process.memory().lock_all((flags & present) != 0, (flags & later) != 0);
}
Answer<void> unlock_all_memory(Caller& caller) { return caller.process.memory().lock_all(false, false); }

constexpr SystemCall rows[] = {
    system_call<&map_memory>("mmap"),          system_call<&unmap_memory>("munmap"),
    system_call<&protect_memory>("mprotect"),  system_call<&set_heap_end>("brk"),
    system_call<&remap_memory>("mremap"),      system_call<&advise>("madvise"),
    system_call<&lock_memory>("mlock"),        system_call<&lock_memory_by>("mlock2"),
    system_call<&unlock_memory>("munlock"),    system_call<&synchronize_memory>("msync"),
    system_call<&lock_all_memory>("mlockall"), system_call<&unlock_all_memory>("munlockall"),
};

}  // namespace

std::span<const SystemCall> memory_calls() { return rows; }

}  // namespace ingot::os
