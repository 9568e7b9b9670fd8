// The whole start-up, from the first C++ instruction to the payload: read it from top to bottom.
#include <memory>

#include "os/boot/kernel.h"
#include "os/trace/panic.h"

namespace ingot::os {

namespace {

template <class Value>
Value require(Result<Value> result, std::string_view step) {
  if (!result.ok()) panic(step, ": ", result.error());
  return std::move(result).value();
}

Result<FrameAllocator> create_frames(Kernel& kernel) {
  const PhysicalWindow window = kernel.platform.window();
  return FrameAllocator::create(kernel.boot_info.memory, window, window.end());
}

void log_memory(Log& log, const MemoryMap& memory) {
  for (const MemoryRange& range : memory.ranges()) {
    log.debug("memory ", range.begin, " - ", range.end(), " ", name_of(range.kind));
  }
  log.information("memory: ", memory.bytes_of(MemoryKind::usable) >> 10, " KiB usable");
}

void log_start(Kernel& kernel) {
  const std::uint64_t cycles = arch::cycle_count() - kernel.platform.entry_cycles();
  kernel.log.information("ingot: started in ", kernel.clock->nanoseconds(cycles).count() / 1000, " us, ", cycles,
                         " cycles at ", kernel.clock->cycles_per_second() / 1'000'000, " MHz");
}

// What the first thread does: the payload, and the end.
void run_main(Kernel& kernel) {
  log_start(kernel);
  run_payload(kernel);
  kernel.log.information("ingot: done");
  kernel.power.stop(Outcome::success, kernel.log);
}

}  // namespace

// entry.S jumps here on a 16 KiB stack, with interrupts off and the first GiB mapped.
extern "C" [[noreturn]] void ingot_start(std::uint32_t protocol, std::uint64_t loader_information) {
  // Built by hand instead of by the compiler: its members are not zero, and would make the image as large as it is.
  alignas(Kernel) static std::byte storage[sizeof(Kernel)];
  Kernel& kernel = *std::construct_at(reinterpret_cast<Kernel*>(storage));
  arch::Platform& platform = kernel.platform;

  platform.adopt_boot_cpu(kernel);
  platform.open_log(kernel.log);
  kernel.log.information("ingot: starting");
  kernel.symbols = require(SymbolTable::create(platform.symbol_table(), platform.kernel_base()), "symbols");

  require(platform.read_boot_info({protocol, PhysicalAddress(loader_information)}, kernel.boot_info), "boot");
  platform.apply_options(kernel.boot_info.command_line.view(), kernel.log);
  kernel.power.apply_options(kernel.boot_info.command_line.view());
  kernel.log.information("boot: loaded by ", kernel.boot_info.loader, ", \"", kernel.boot_info.command_line.view(),
                         "\"");

  require(platform.map_kernel(kernel.boot_info), "page table");
  kernel.frames.emplace(LockRank::frames, require(create_frames(kernel), "frames"));
  log_memory(kernel.log, kernel.boot_info.memory);
  platform.silence_legacy_interrupts();
  const std::uint64_t rate = require(platform.cycles_per_second(), "cycle counter");
  kernel.clock = require(CycleClock::create(rate), "cycle counter");

  require(kernel.scheduler.add(kernel.boot_processor), "scheduler");
  kernel.scheduler.adopt_cpu(kernel.boot_processor);
  const KernelThread main = require(spawn(kernel, "main", run_main, kernel), "first thread");
  kernel.scheduler.idle();  // this stack is the boot CPU's idle thread from now on
}

}  // namespace ingot::os
