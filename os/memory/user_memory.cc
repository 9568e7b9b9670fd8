#include "os/memory/user_memory.h"

#include "os/boot/kernel.h"

namespace ingot::os {

void load_address_space(const AddressSpace* space) {
  const NativePageTable& kernel = arch::current_cpu().kernel->memory->table();
  arch::load_page_table(space != nullptr ? space->table().root() : kernel.root());
}

void use_address_space(AddressSpace* space) {
  current_thread().address_space = space;
  load_address_space(space);
}

static Result<void> copy(void* to, const void* from, VirtualAddress user, std::uint64_t bytes) {
  if (user > user_memory_end || bytes > user_memory_end - user) {
    return Error::of(ErrorCode::out_of_range, "expected ", bytes, " bytes of a program's memory, found ", user);
  }
  const std::uint64_t left = arch::copy_user(to, from, bytes);
  if (left == 0) return {};
  return Error::of(ErrorCode::not_found, "expected ", bytes, " bytes of memory at ", user, ", found ", bytes - left);
}

Result<void> copy_from_user(void* to, VirtualAddress from, std::uint64_t bytes) {
  return copy(to, reinterpret_cast<const void*>(from.value()), from, bytes);
}
Result<void> copy_to_user(VirtualAddress to, const void* from, std::uint64_t bytes) {
  return copy(reinterpret_cast<void*>(to.value()), from, to, bytes);
}

}  // namespace ingot::os
