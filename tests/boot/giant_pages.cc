// A file of more than 2 GiB is shown by pages of 1 GiB where its memory has them, wherever it begins.
//
// boot-test: success
// boot-test: memory 4096
// boot-test: expect giant pages: 1 of 1 GiB, then 2 MiB
#include "os/boot/kernel.h"
#include "os/boot/start.h"
#include "os/process/process.h"
#include "os/trace/panic.h"

namespace ingot::os {

void run_payload(Kernel& kernel) {
  if (kernel.platform.largest_page() != PageSize::giant) panic("expected a CPU with pages of 1 GiB, found none");
  {
    Owned<Process> process = require(Process::create(kernel, std::uint64_t{1} << 40), "process");
    // Nothing is read: any addresses do, of which 2 GiB - 6 MiB lie in a row.
    PhysicalMemory weights("weights", PhysicalAddress((1 << 30) + (6 << 20)), (std::uint64_t{2} << 30) - (6 << 20),
                           CacheMode::write_back);
    AddressSpace& space = process->space();
    RegionRequest request;
    request.object = &weights;
    request.bytes = (std::uint64_t{2} << 30) - (6 << 20);
    request.lowest = VirtualAddress(0x7e00'0000'0000);
    const VirtualAddress begin = require(space.add(request), "region");
    if (begin.value() % giant_page_bytes != 6 << 20)
      panic("expected the region to begin like its memory, found ", begin);
    for (std::uint64_t offset = 0; offset < request.bytes; offset += large_page_bytes) {
      static_cast<void>(require(space.fault(begin + offset, Access::read), "fault"));
    }
    const ProgramAccount& account = process->memory().account();
    const std::uint64_t giant = account.shown(PageSize::giant, FrameOwnership::borrowed);
    if (account.in_place() != request.bytes) panic("expected all of it in place, found ", account.in_place());
    if (account.shown(PageSize::small, FrameOwnership::borrowed) != 0) panic("expected no small page, found some");
    kernel.log.information("giant pages: ", giant, " of 1 GiB, then 2 MiB");
    require(space.remove(begin, request.bytes), "removal");
  }
}

}  // namespace ingot::os
