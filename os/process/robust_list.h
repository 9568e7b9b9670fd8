// Robust locks: a thread that ends while it holds one tells the others so.
#pragma once

#include <cstdint>

#include "os/memory/address.h"

namespace ingot::os {

class Process;

// `head`: where the thread's list begins in the current address space; 0: it has none. `owner`: the thread's number, as
// the locks hold it. The list is the program's: it may be broken, endless, or gone.
void release_robust_locks(Process& process, VirtualAddress head, std::uint32_t owner);

}  // namespace ingot::os
