// Programs keep both CPUs, and their slices are longer than this test: a thread of the kernel that an interrupt wakes
// there, or another CPU, goes first all the same, and stays on the CPU it was given.
//
// boot-test: success
// boot-test: processors 2
// boot-test: options slice=100000000
// boot-test: expect woken: by its own CPU's timer on CPU 0
// boot-test: expect woken: by its own CPU's timer on CPU 1
// boot-test: expect woken: by another CPU
#include "os/schedule/semaphore.h"
#include "os/schedule/sleep.h"
#include "tests/boot/tiny_program.h"

namespace ingot::os {

namespace {

constexpr int rounds = 20;
constexpr Nanoseconds pause(2'000'000), patience(5'000'000'000);

struct Test {
  Kernel& kernel;
  TinyProgram programs;
  Semaphore first_done{0}, call{0}, answer{0};

  void expect_soon(Nanoseconds since) {
    const Nanoseconds taken = kernel.now() - since;
    if (taken > patience) panic("expected a woken thread to run before programs, found it ", taken.count(), " ns late");
  }
  void expect_cpu(std::uint32_t cpu) {
    if (current_processor().index != cpu) panic("expected CPU ", cpu, ", found ", current_processor().index);
  }
  void sleep_on(std::uint32_t cpu) {
    for (int round = 0; round < rounds; ++round) {
      const Nanoseconds deadline = kernel.now() + pause;
      sleep_thread_until(deadline);
      expect_soon(deadline);
      expect_cpu(cpu);
    }
    kernel.log.information("woken: by its own CPU's timer on CPU ", cpu);
  }

  // On CPU 0: sleeps, then calls the other thread, while programs run on both CPUs.
  void ask() {
    sleep_on(0);
    first_done.release();
    for (int round = 0; round < rounds; ++round) {
      sleep_thread_until(kernel.now() + pause);
      const Nanoseconds begin = kernel.now();
      call.release();
      answer.acquire();
      expect_soon(begin);
    }
    kernel.log.information("woken: by another CPU");
    programs.process->end(0);
  }
  void reply() {
    first_done.acquire();
    sleep_on(1);
    for (int round = 0; round < rounds; ++round) {
      call.acquire();
      expect_cpu(1);
      answer.release();
    }
  }
};

}  // namespace

void run_payload(Kernel& kernel) {
  Test test{kernel, TinyProgram(kernel, notes_the_time)};
  KernelThread asks = require(spawn_on(kernel, 0, "asks", [](Test& own) { own.ask(); }, test));
  KernelThread replies = require(spawn_on(kernel, 1, "replies", [](Test& own) { own.reply(); }, test));
  Process& process = *test.programs.process;
  const VirtualAddress stack = TinyProgram::top_of_stack - 64;
  process.start(*require(process.add_thread(arch::first_frame(program_entry, stack), {})));
  test.programs.run();
  asks.join();
  replies.join();
}

}  // namespace ingot::os
