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
    if (!file->readable() || (writes_file && !file->writable())) return Errno::eacces;
    FileMapping shown = TRY(file->mapping());
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

Answer<void> advise(Caller& caller, VirtualAddress address, std::uint64_t length, int advice) {
  constexpr int do_not_need = 4, free_if_needed = 8, last_known = 25;
  if (!address.aligned(page_bytes) || advice < 0 || advice > last_known) return Errno::einval;
  if (length == 0) return {};
  const std::uint64_t bytes = TRY(whole_pages(length));
  // The others tell how the memory will be used, which changes nothing here.
  if (advice != do_not_need && advice != free_if_needed) return {};
  return caller.process.memory().discard(address, bytes);
}

// A file's pages are its memory: what a mapping writes, the file holds.
Answer<void> synchronize_memory(Caller& caller, VirtualAddress address, std::uint64_t length, std::uint32_t flags) {
  constexpr std::uint32_t later = 1, invalidate = 2, now = 4;
  if (!address.aligned(page_bytes) || (flags & ~(later | invalidate | now)) != 0) return Errno::einval;
  if ((flags & later) != 0 && (flags & now) != 0) return Errno::einval;
  if (length == 0) return {};
  const VirtualAddress end = address + TRY(whole_pages(length));
  while (address < end) {
    const std::optional<RegionFields> region = caller.process.space().region_at(address);
    if (!region) return Errno::enomem;
    address = region->begin + region->bytes;
  }
  return {};
}

// Memory is never written out: what a program locks, stays anyway.
Answer<void> lock_memory(Caller&, VirtualAddress, std::uint64_t) { return {}; }
Answer<void> lock_all_memory(Caller&) { return {}; }

constexpr SystemCall rows[] = {
    system_call<&map_memory>("mmap"),
    system_call<&unmap_memory>("munmap"),
    system_call<&protect_memory>("mprotect"),
    system_call<&set_heap_end>("brk"),
    system_call<&remap_memory>("mremap"),
    system_call<&advise>("madvise"),
    system_call<&lock_memory>("mlock"),
    system_call<&lock_memory>("munlock"),
    system_call<&synchronize_memory>("msync"),
    system_call<&lock_all_memory>("mlockall"),
    system_call<&lock_all_memory>("munlockall"),
};

}  // namespace

std::span<const SystemCall> memory_calls() { return rows; }

}  // namespace ingot::os
