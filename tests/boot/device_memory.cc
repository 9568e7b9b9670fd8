// Registers beyond the window are mapped uncached and can be read; large devices get large pages, screens gather
// writes.
//
// boot-test: success
// boot-test: expect registers: version 0x
// boot-test: expect screen: large pages, write-combining
// boot-test: expect devices: wrong ranges refused
#include "os/boot/kernel.h"
#include "os/trace/panic.h"

namespace ingot::os {

namespace {

VirtualAddress map(Kernel& kernel, std::uint64_t physical, std::uint64_t bytes, CacheMode cache) {
  const Result<VirtualAddress> mapped = kernel.memory->map_device(PhysicalAddress(physical), bytes, cache);
  if (!mapped.ok()) panic(mapped.error());
  return mapped.value();
}

}  // namespace

void run_payload(Kernel& kernel) {
  const NativePageTable& table = kernel.memory->table();
  // The local APIC's version register: not at the start of a page, and less than one.
  constexpr std::uint64_t version_register = 0xfee00030;
  const VirtualAddress registers = map(kernel, version_register, 4, CacheMode::uncached);
  const std::uint32_t version = *reinterpret_cast<volatile std::uint32_t*>(registers.value());
  if (version != 0 && version != ~0u && table.find(registers)->attributes.cache == CacheMode::uncached) {
    kernel.log.information("registers: version ", Hexadecimal{version});
  }
  const VirtualAddress screen = map(kernel, 0xfd001000, 5 * large_page_bytes, CacheMode::write_combining);
  const std::optional<MappedPage> first = table.find(screen), later = table.find(screen + large_page_bytes);
  if (first && later && first->size == PageSize::small && later->size == PageSize::large &&
      later->attributes.cache == CacheMode::write_combining && !table.find(screen + 5 * large_page_bytes)) {
    kernel.log.information("screen: large pages, write-combining");
  }
  const bool refused = !kernel.memory->map_device(PhysicalAddress(~std::uint64_t{0xfff}), 4096, {}).ok() &&
                       !kernel.memory->map_device(PhysicalAddress(0xfee00000), 0, {}).ok();
  if (refused) kernel.log.information("devices: wrong ranges refused");
}

}  // namespace ingot::os
