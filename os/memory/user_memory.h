// A program's memory as the kernel reaches it: by copying, because any address may be wrong and any page still absent.
// Everywhere else the CPU refuses the kernel such accesses, where it can (SMAP).
#pragma once

#include <cstdint>

#include "base/result.h"
#include "os/memory/address.h"

namespace ingot::os {

class AddressSpace;

// The program's half ends a page before the first address that is none: no instruction and no copy runs over.
inline constexpr VirtualAddress user_memory_end{0x0000'7fff'ffff'f000};

// The current thread sees this space from now on, wherever it runs; nullptr: none but the kernel.
void use_address_space(AddressSpace* space);
// On this CPU, for the scheduler.
void load_address_space(const AddressSpace* space);

// In the current thread's space; absent pages appear. On failure a part may have been copied. The thread may sleep.
Result<void> copy_from_user(void* to, VirtualAddress from, std::uint64_t bytes);
Result<void> copy_to_user(VirtualAddress to, const void* from, std::uint64_t bytes);

}  // namespace ingot::os
