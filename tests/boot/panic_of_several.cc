// Where several CPUs panic at once, one tells its end, and the others are silent: they are stopped even where they hold
// locks with interrupts off.
//
// boot-test: panic
// boot-test: processors 4
// boot-test: expect the last line before
// boot-test: expect panic: expected peace, found CPU
// boot-test: expect in thread "rebel" on CPU
// boot-test: expect called by:
// boot-test: expect the last lines of the log:
// boot-test: expect | the last line before
#include <array>
#include <optional>

#include "os/boot/kernel.h"
#include "os/trace/panic.h"

namespace ingot::os {

namespace {

struct Revolt {
  Kernel& kernel;
  std::uint64_t all;
  Atomic<std::uint64_t> present;
};

void rebel(Revolt& revolt) {
  const InterruptsOff quiet;
  const std::uint32_t cpu = arch::current_cpu().index;
  revolt.present.fetch_or(std::uint64_t{1} << cpu, MemoryOrder::acquire_release);
  while (revolt.present.load(MemoryOrder::acquire) != revolt.all) arch::pause();
  if (cpu % 2 == 1 || revolt.all == 1) panic("expected peace, found CPU ", cpu);
  for (;;) arch::pause();  // only the interrupt that cannot be masked ends this
}

}  // namespace

void run_payload(Kernel& kernel) {
  kernel.log.information("the last line before");
  Revolt revolt{kernel, kernel.calls.running(), {}};
  std::array<std::optional<KernelThread>, Scheduler::most_processors> threads;
  for (std::size_t cpu = 0; (revolt.all >> cpu) != 0; ++cpu) {
    Result<KernelThread> thread = spawn(kernel, "rebel", rebel, revolt);
    if (!thread.ok()) panic(thread.error());
    threads[cpu].emplace(std::move(thread).value());
  }
}

}  // namespace ingot::os
