// Once a page was unmapped, no CPU reads it any more, however often it did before; and CPUs that unmap at the same
// time, with interrupts off, do not wait for each other forever.
//
// boot-test: success
// boot-test: processors 3
// boot-test: expect unmapped: no CPU saw an old page
// boot-test: expect called each other: nobody waits
#include <array>
#include <optional>

#include "os/boot/kernel.h"
#include "os/trace/panic.h"

extern "C" const char read_here[], read_failed[];

namespace ingot::os {

namespace {

struct Play {
  Kernel& kernel;
  std::uint32_t readers;
  Atomic<std::uint64_t> page;       // of this round; 0: the end
  Atomic<std::uint32_t> have_read;  // how many know the page
  Atomic<std::uint32_t> unmapped;   // the last round whose page is gone
  Atomic<std::uint32_t> missed;     // how many noticed
};

// Whether there is something to read. Assembly: the handler must know the instruction.
[[gnu::noinline]] bool can_read(std::uint64_t address) {
  std::uint64_t word = 0;
  std::uint32_t found = 1;
  asm volatile(
      "read_here: movq (%2), %0\n\t"
      "jmp 1f\n"
      "read_failed: xorl %1, %1\n"
      "1:"
      : "=&r"(word), "+&r"(found)
      : "r"(address)
      : "memory");
  return found != 0;
}

void on_page_fault(void*, arch::TrapFrame& frame) {
  if (frame.rip != reinterpret_cast<std::uint64_t>(read_here)) panic("expected a fault of can_read, found another");
  frame.rip = reinterpret_cast<std::uint64_t>(read_failed);
}

void read_pages(Play& play) {
  for (std::uint32_t round = 1;; ++round) {
    std::uint64_t page = 0;
    while (play.have_read.load(MemoryOrder::acquire) / play.readers >= round) arch::pause();
    while ((page = play.page.load(MemoryOrder::acquire)) == 1) arch::pause();
    if (page == 0) return;
    if (!can_read(page)) panic("expected a page in round ", round, ", found none");
    play.have_read.fetch_add(1, MemoryOrder::acquire_release);
    while (play.unmapped.load(MemoryOrder::acquire) < round) static_cast<void>(can_read(page));
    if (can_read(page))
      panic("expected no page after round ", round, ", found CPU ", arch::current_cpu().index, " reads it");
    play.missed.fetch_add(1, MemoryOrder::acquire_release);
    while (play.missed.load(MemoryOrder::acquire) < round * play.readers) arch::pause();
  }
}

void unmap_pages(Play& play) {
  for (std::uint32_t round = 1; round <= 5; ++round) {
    Result<KernelStack> stack = play.kernel.memory->allocate_stack(page_bytes);
    if (!stack.ok()) panic(stack.error());
    play.page.store(stack.value().bottom().value(), MemoryOrder::release);
    while (play.have_read.load(MemoryOrder::acquire) < round * play.readers) arch::pause();
    play.page.store(1, MemoryOrder::release);
    stack.value() = KernelStack();
    play.unmapped.store(round, MemoryOrder::release);
    while (play.missed.load(MemoryOrder::acquire) < round * play.readers) arch::pause();
  }
  play.page.store(0, MemoryOrder::release);
}

void call_others(Play& play) {
  const InterruptsOff quiet;
  for (int times = 0; times < 10; ++times) {
    TlbFlush flush;
    flush.everything = true;
    play.kernel.memory->tlb().flush(flush);
  }
}

template <class Function>
void run_on_each(Play& play, std::uint32_t count, Function function) {
  std::array<std::optional<KernelThread>, Scheduler::most_processors> threads;
  for (std::uint32_t i = 0; i < count; ++i) {
    Result<KernelThread> thread = spawn(play.kernel, "actor", function, play);
    if (!thread.ok()) panic(thread.error());
    threads[i].emplace(std::move(thread).value());
  }
  if (function == &read_pages) unmap_pages(play);
}

}  // namespace

void run_payload(Kernel& kernel) {
  std::uint32_t cpus = 0;
  while ((kernel.calls.running() >> cpus) != 0) ++cpus;
  Play play{kernel, cpus - 1, Atomic<std::uint64_t>(1), {}, {}, {}};
  if (cpus > 1) {
    const Result<void> claimed = kernel.interrupts.claim(arch::exception::page_fault, {on_page_fault, nullptr});
    if (!claimed.ok()) panic(claimed.error());
    run_on_each(play, play.readers, &read_pages);
    kernel.interrupts.release(arch::exception::page_fault);
  }
  kernel.log.information("unmapped: no CPU saw an old page");
  run_on_each(play, cpus, &call_others);
  kernel.log.information("called each other: nobody waits");
}

}  // namespace ingot::os
