// The kernel follows a program's pointer by mistake: the page is there, and the CPU refuses all the same.
//
// boot-test: panic
// boot-test: expect panic: page fault: read of 0x200000, expected kernel memory, found a page of ring 3
// boot-test: expect  run_payload + 0x
#include "os/boot/kernel.h"
#include "os/memory/user_memory.h"
#include "os/trace/panic.h"

namespace ingot::os {

void run_payload(Kernel& kernel) {
  KernelMemory& memory = *kernel.memory;
  AnonymousMemory anonymous(memory.frames(), memory.window());
  auto space = AddressSpace::create(memory.services(), &memory.table(), VirtualAddress(0x200000), user_memory_end);
  if (!space.ok()) panic(space.error());
  RegionRequest request;
  request.object = &anonymous;
  request.bytes = page_bytes;
  const Result<VirtualAddress> place = space.value()->add(request);
  use_address_space(space.value().get());
  std::uint64_t value = 0;
  if (!place.ok() || !copy_from_user(&value, place.value(), sizeof(value)).ok()) panic("expected a page, found none");
  value = *reinterpret_cast<volatile std::uint64_t*>(place.value().value());
  kernel.log.error("the kernel read a page of ring 3: ", value);
}

}  // namespace ingot::os
