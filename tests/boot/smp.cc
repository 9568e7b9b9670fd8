// Every CPU runs threads, knows itself, and has timers of its own; what one calls on the others, they do.
//
// boot-test: success
// boot-test: processors 4
// boot-test: expect every CPU ran a thread
// boot-test: expect every CPU slept and woke
// boot-test: expect every CPU was called
#include <array>
#include <optional>

#include "os/boot/kernel.h"
#include "os/schedule/sleep.h"
#include "os/trace/panic.h"

namespace ingot::os {

namespace {

struct Meeting {
  Kernel& kernel;
  std::uint64_t all;  // CPUs, a bit each
  Atomic<std::uint64_t> present, slept;
};

std::uint64_t own_bit() { return std::uint64_t{1} << arch::current_cpu().index; }

// Threads are never preempted: that all wait here at once, each on a CPU of its own, is the proof.
void meet(Meeting& meeting) {
  const arch::ProcessorHeader& cpu = arch::current_cpu();
  if (cpu.self != &cpu || cpu.kernel != &meeting.kernel) panic("expected this CPU's own data, found another's");
  if ((meeting.present.fetch_or(own_bit(), MemoryOrder::acquire_release) & own_bit()) != 0) {
    panic("expected one thread on CPU ", cpu.index, ", found two");
  }
  while (meeting.present.load(MemoryOrder::acquire) != meeting.all) arch::pause();
  if (&arch::current_cpu() != &cpu) panic("expected to stay on CPU ", cpu.index, ", found ", arch::current_cpu().index);
  meeting.slept.fetch_or(own_bit(), MemoryOrder::acquire_release);
  for (int times = 0; times < 3; ++times) {
    const Nanoseconds end = meeting.kernel.now() + Nanoseconds(200'000);
    sleep_thread_until(end);
    if (meeting.kernel.now() < end) panic("expected to sleep until ", end.count(), ", found an earlier time");
  }
}

}  // namespace

void run_payload(Kernel& kernel) {
  Meeting meeting{kernel, kernel.calls.running(), {}, {}};
  {
    std::array<std::optional<KernelThread>, Scheduler::most_processors> threads;
    for (std::size_t cpu = 0; (meeting.all >> cpu) != 0; ++cpu) {
      Result<KernelThread> thread = spawn(kernel, "visitor", meet, meeting);
      if (!thread.ok()) panic(thread.error());
      threads[cpu].emplace(std::move(thread).value());
    }
  }
  kernel.log.information("every CPU ran a thread");
  if (meeting.slept.load(MemoryOrder::acquire) != meeting.all) panic("expected all CPUs to sleep, found fewer");
  kernel.log.information("every CPU slept and woke");
  for (int round = 0; round < 10; ++round) {
    Atomic<std::uint64_t> called(own_bit());
    const auto note = [](const void* set) {
      auto& bits = *static_cast<Atomic<std::uint64_t>*>(const_cast<void*>(set));
      bits.fetch_or(own_bit(), MemoryOrder::relaxed);
    };
    kernel.calls.call(meeting.all, note, &called);
    if (called.load(MemoryOrder::relaxed) != meeting.all) panic("expected all CPUs to answer, found fewer");
  }
  kernel.log.information("every CPU was called");
}

}  // namespace ingot::os
