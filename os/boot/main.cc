// The whole start-up, from the first C++ instruction to the payload: read it from top to bottom.
#include <memory>

#include "os/boot/command_line.h"
#include "os/boot/kernel.h"
#include "os/boot/start.h"
#include "os/boot/subsystem.h"
#include "os/memory/early_memory.h"

namespace ingot::os {

namespace {

// All usable memory goes to the frame allocator; heap, stacks and mapped devices live on it.
Result<void> create_memory(Kernel& kernel) {
  const PhysicalWindow window = kernel.platform.window();
  constexpr PhysicalAddress one_mib(1 << 20);
  const auto start_pages = take_early_memory(kernel.boot_info.memory, arch::Platform::start_bytes, one_mib);
  if (start_pages.ok()) kernel.start_pages = start_pages.value();
  FrameAllocator frames = TRY(FrameAllocator::create(kernel.boot_info.memory, window, window.end()));
  const bool poison = command_line_option(kernel.boot_info.command_line.view(), "poison").has_value();
  kernel.memory.emplace(std::move(frames), window, arch::loaded_page_table(), kernel.platform.largest_page(),
                        poison ? Poison::on : Poison::off);
  return kernel.memory->prepare();
}

// What the payload took and did not give back, if anything. A network takes memory by itself, so it looks itself.
void expect_no_leak(Kernel& kernel, const MemoryInUse& before) {
  const SocketFamilies& families = kernel.socket_families;
  if (families.size() != 0 && families[0].maker != nullptr) return families[0].maker->stop();
  const MemoryInUse after = kernel.memory->in_use();
  if (after == before) return;
  panic("leak: expected ", before.heap_blocks, " heap blocks of ", before.heap_bytes, " bytes and ", before.frames,
        " frames in use, found ", after.heap_blocks, " of ", after.heap_bytes, " and ", after.frames);
}

void log_memory(Log& log, const MemoryMap& memory, PhysicalAddress window_end) {
  for (const MemoryRange& range : memory.ranges()) {
    log.debug("memory ", range.begin, " - ", range.end(), " ", name_of(range.kind));
  }
  log.information("memory: ", memory.bytes_of(MemoryKind::usable) >> 10, " KiB usable");
  if (const std::uint64_t beyond = memory.bytes_of(MemoryKind::usable, window_end)) {
    log.warning("memory: expected all of it below ", window_end, ", found ", beyond >> 10, " KiB beyond: not used");
  }
}

void log_start(Kernel& kernel) {
  kernel.log.information("ingot: started in ", kernel.now().count() / 1000, " us, ", kernel.clock->cycles_since_start(),
                         " cycles at ", kernel.clock->rate().cycles_per_second() / 1'000'000, " MHz");
}

// A machine whose firmware tells nothing still boots: with the devices that every PC has.
void read_acpi(Kernel& kernel) {
  const Result<void> read = kernel.acpi.read(kernel.platform, kernel.boot_info.acpi_root);
  if (!read.ok()) kernel.log.warning("acpi: ", read.error());
  if (const AcpiTables* tables = kernel.acpi.tables()) kernel.log.information("acpi: ", tables->count(), " tables");
}

// What this image has beyond the usual, in the order in which it is listed. Not inlined: its error would lie below the
// whole payload on the first thread's stack.
[[gnu::noinline]] void start_subsystems(Kernel& kernel) {
  for (const Subsystem* const* each = linked_subsystems; *each != nullptr; ++each) {
    const Result<void> started = (*each)->start(kernel);
    if (!started.ok()) kernel.log.warning((*each)->name, ": ", started.error());
  }
}

// What the first thread does: the payload, and the end.
void run_main(Kernel& kernel) {
  start_subsystems(kernel);
  log_start(kernel);
  const MemoryInUse before = kernel.memory->in_use();
  run_payload(kernel);
  expect_no_leak(kernel, before);
  kernel.log.information("ingot: done");
  // The last line, by which whoever booted us knows how the program ended: an emulator's own status has too few bits.
  if (kernel.exit_status) kernel.log.information("exit ", *kernel.exit_status);
  kernel.power.stop(Outcome::success, kernel.log);
}

}  // namespace

// entry.S jumps here on a 24 KiB stack, with interrupts off and the first GiB mapped; move_kernel does once more.
extern "C" [[noreturn]] void ingot_start(LoaderProtocol protocol, std::uint64_t loader_information) {
  const arch::EntryArguments arguments{protocol, PhysicalAddress(loader_information)};
  arch::move_kernel(arguments);
  // Built by hand instead of by the compiler: its members are not zero, and would make the image as large as it is.
  alignas(Kernel) static std::byte storage[sizeof(Kernel)];
  Kernel& kernel = *std::construct_at(reinterpret_cast<Kernel*>(storage));
  arch::Platform& platform = kernel.platform;

  platform.adopt_boot_cpu(kernel);
  platform.open_log(kernel.log);
  kernel.log.information("ingot: starting");
  kernel.symbols = require(SymbolTable::create(platform.symbol_table(), platform.kernel_base()), "symbols");

  require(platform.read_boot_info(arguments, kernel.boot_info), "boot");
  platform.apply_options(kernel.boot_info.command_line.view(), kernel.log);
  kernel.power.apply_options(kernel.boot_info.command_line.view());
  kernel.log.information("boot: loaded by ", name_of(kernel.boot_info.loader), ", \"",
                         kernel.boot_info.command_line.view(), "\"");

  require(platform.map_kernel(kernel.boot_info), "page table");
  require(create_memory(kernel), "memory");
  log_memory(kernel.log, kernel.boot_info.memory, platform.window().end());
  read_acpi(kernel);
  start_clock(kernel);
  require(kernel.interrupt_hardware.start(kernel.acpi.interrupts(), *kernel.memory), "interrupt controllers");
  kernel.log.information("interrupts: by ", kernel.controller().name());
  start_timers(kernel);

  kernel.random.start(kernel.boot_info.entropy, kernel.log);
  if (const auto slice = command_line_number(kernel.boot_info.command_line.view(), "slice")) {
    kernel.time_slice = Nanoseconds(std::int64_t{*slice} * 1000);
  }
  const bool checks = command_line_option(kernel.boot_info.command_line.view(), "check-locks").has_value();
  kernel.lock_reports.forgives_waits = !checks;
  kernel.scheduler.report_locks(kernel.lock_reports, Scheduler::LockChecks{checks});
  require(kernel.scheduler.add(kernel.boot_processor), "scheduler");
  kernel.scheduler.adopt_cpu(kernel.boot_processor);
  start_processors(kernel);
  require(start_tasks(kernel), "tasks");
  kernel.devices.start(kernel);
  const KernelThread main =
      require(spawn(kernel, "main", run_main, kernel, VectorUse::none, KernelThread::deep_stack_bytes), "first thread");
  kernel.scheduler.idle();  // this stack is the boot CPU's idle thread from now on
}

}  // namespace ingot::os
