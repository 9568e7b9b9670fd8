// Kernel: everything that is not one CPU's own, built once by main.cc and passed on. There is no other global state.
#pragma once

#include <cstdint>
#include <optional>

#include "os/arch/platform.h"
#include "os/boot/boot_info.h"
#include "os/device/acpi.h"
#include "os/device/devices.h"
#include "os/device/interrupt_hardware.h"
#include "os/device/power.h"
#include "os/device/time_hardware.h"
#include "os/file/program_device.h"
#include "os/file/socket/socket_family.h"
#include "os/interrupt/interrupt_table.h"
#include "os/interrupt/monotonic_clock.h"
#include "os/interrupt/processor_calls.h"
#include "os/memory/kernel_memory.h"
#include "os/process/booted_machine_report.h"
#include "os/process/secure_random.h"
#include "os/schedule/kernel_thread.h"
#include "os/schedule/scheduler.h"
#include "os/syscall/table.h"
#include "os/trace/log.h"
#include "os/trace/panic.h"
#include "os/trace/symbols.h"
#include "os/trace/tracepoint.h"

namespace ingot::os {

class PciBus;
class DrivenLink;

struct Kernel {
  BootInfo boot_info;
  Log log;
  SymbolTable symbols;
  InterruptTable interrupts;
  arch::Platform platform;
  Processor boot_processor{0};
  std::optional<KernelMemory> memory;
  std::optional<MonotonicClock> clock;
  LockReports lock_reports;
  Tracepoints tracepoints;
  ScheduleHardware machine;
  Scheduler scheduler{machine};
  Acpi acpi;
  InterruptHardware interrupt_hardware;
  TimeHardware time_hardware;
  Power power;
  Devices devices;
  PciBus* pci = nullptr;           // none: this kernel or this machine has no PCI
  DrivenLink* links = nullptr;     // network cards with drivers, the first and behind it the others
  ProgramDevices program_devices;  // what subsystems offer to programs that are granted it
  SocketFamilies socket_families;  // what sockets they offer, to be granted as well
  SecureRandom random;
  BootedMachineReport machine_report{*this};
  DeviceOpener* console = nullptr;  // the program's terminal; none: it has no standard files
  SystemCallTable system_calls;
  Nanoseconds time_slice{10'000'000};  // of a program while other threads wait for its CPU; `slice=` in microseconds
  ProcessorCalls calls;
  std::optional<int> exit_status;              // of the program that ran, if one was to run
  std::optional<PhysicalAddress> start_pages;  // where other CPUs begin, below 1 MiB
  static constexpr std::uint32_t nobody = ~std::uint32_t{0};
  Atomic<std::uint32_t> panicking_cpu{nobody};
  Atomic<std::uint64_t> stopped_cpus;  // by another's panic, a bit each

  // Since the kernel's first instruction.
  Nanoseconds now() const { return clock->now(); }
  // Since 1970, where the machine knows the date; else since the start.
  Nanoseconds wall_time() const {
    const WallClock* wall_clock = devices.wall_clock();
    return wall_clock != nullptr ? wall_clock->at(now()) : now();
  }
  InterruptController& controller() { return interrupt_hardware.controller(); }
};

// What the image does once the kernel stands: the shipped image's is os/images/payload.cc, each boot test has its own.
// The machine is switched off when it returns.
void run_payload(Kernel& kernel);

}  // namespace ingot::os
