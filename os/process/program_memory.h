// ProgramMemory: a program's memory as its system calls see it: mappings at addresses that nobody can guess, the heap
// of brk, and a limit on what it may come to.
#pragma once

#include <cstdint>
#include <optional>

#include "os/memory/address_space.h"
#include "os/memory/memory_object.h"
#include "os/memory/owned.h"
#include "os/process/program_account.h"
#include "os/schedule/mutex.h"
#include "os/syscall/errno.h"

namespace ingot::os {

class KernelMemory;
class SecureRandom;
struct ProgramPlace;

// Pages that are writable and executable at once: for programs that write programs, if the manifest grants it.
enum class WritableCode : std::uint8_t { refused, granted };

// Of the thread that begins: mapped as a whole, it neither grows nor shrinks.
inline constexpr std::uint64_t first_stack_bytes = 8 << 20;

class ProgramMemory {
 public:
  struct Mapping {
    std::uint64_t bytes = 0;
    Access access = Access::none;
    Access most_access = every_access;  // that mprotect may give it
    Sharing sharing = Sharing::private_copy;
    RegionPurpose purpose = RegionPurpose::general;
    MemoryObject* object = nullptr;  // none: zeroes
    std::uint64_t object_offset = 0;
    Reference<Shared> owner{};
    std::uint64_t guard_bytes = 0;
    // Exactly there. What lies there goes first, or is respected: then EEXIST.
    std::optional<VirtualAddress> address = std::nullopt;
    bool replaces = false;
  };

  static Result<Owned<ProgramMemory>> create(KernelMemory& memory, SecureRandom& random, std::uint64_t limit,
                                             WritableCode writable_code);
  ProgramMemory(KernelMemory& memory, SecureRandom& random, std::uint64_t limit, WritableCode writable_code);
  ProgramMemory(const ProgramMemory&) = delete;
  ProgramMemory& operator=(const ProgramMemory&) = delete;

  AddressSpace& space() { return *space_; }
  MemoryObject& zeroes() { return zeroes_; }
  const ProgramAccount& account() const { return account_; }
  ProgramAccount& account() { return account_; }
  WritableCode writable_code() const { return writable_code_; }

  Answer<VirtualAddress> map(const Mapping& mapping);
  Answer<void> unmap(VirtualAddress address, std::uint64_t bytes);
  Answer<void> protect(VirtualAddress address, std::uint64_t bytes, Access access);
  // A mapping grows or shrinks where it is, or moves if it may.
  Answer<VirtualAddress> resize(VirtualAddress address, std::uint64_t old_bytes, std::uint64_t new_bytes,
                                bool may_move);
  // What mlock and mlockall say; `later`: of every new mapping.
  Answer<void> lock(VirtualAddress address, std::uint64_t bytes, bool locked);
  Answer<void> lock_all(bool present, bool later);
  // Its pages are zeroes, or the file's, again.
  Answer<void> discard(VirtualAddress address, std::uint64_t bytes);

  // Anywhere there (program_places.h).
  VirtualAddress draw(const ProgramPlace& place);
  // Once, somewhere behind the program's end: the heap that brk moves the end of.
  void begin_heap(VirtualAddress program_end);
  VirtualAddress heap_begin() const { return heap_begin_; }
  // The new end, or the old one where it cannot be: as Linux answers brk.
  VirtualAddress set_heap_end(VirtualAddress end);

 private:
  Allocator& heap_;
  SecureRandom& random_;
  AnonymousMemory zeroes_;
  ProgramAccount account_;
  WritableCode writable_code_;
  Owned<AddressSpace> space_;
  VirtualAddress lowest_mapping_;
  Mutex changes_{LockRank::program_memory};  // what is decided here holds until it is done
  VirtualAddress heap_begin_, heap_end_;
  bool locks_new_ = false;
};

}  // namespace ingot::os
