// Interrupts that no flag keeps away hit a program and the kernel's side of its calls: also between SYSCALL and the
// exchange of GS, where the kernel runs with the program's. Their handler needs the kernel's GS to find anything.
// boot-test: success
// boot-test: processors 2
// boot-test: expect program ended with 42
// boot-test: expect in programs and in the kernel
#include <array>

#include "tests/boot/tiny_program.h"

namespace ingot::os {

namespace {

// 2,000,000 times getpid, then exit_group(42).
constexpr std::array<std::uint8_t, 30> makes_many_calls = {
    0xbb, 0x80, 0x84, 0x1e, 0x00,              // mov $2000000, %ebx
    0xb8, 39,   0,    0,    0,    0x0f, 0x05,  // mov $39, %eax; syscall
    0xff, 0xcb, 0x75, 0xf5,                    // dec %ebx; jnz back
    0xbf, 42,   0,    0,    0,                 // mov $42, %edi
    0xb8, 231,  0,    0,    0,    0x0f, 0x05,  // mov $231, %eax; syscall
    0x0f, 0x0b,                                // never
};

struct Hits {
  Kernel& kernel;
  Atomic<std::uint64_t> in_program, in_kernel;
  Atomic<bool> begun, over;
};

void count(void* context, arch::TrapFrame& frame) {
  Hits& hits = *static_cast<Hits*>(context);
  if (arch::current_cpu().kernel != &hits.kernel) panic("expected this CPU's own data, found another's");
  (arch::is_from_user(frame) ? hits.in_program : hits.in_kernel).fetch_add(1, MemoryOrder::relaxed);
}

// Each once the one before has arrived: they do not queue.
void interrupt_others(Hits& hits) {
  hits.begun.store(true, MemoryOrder::release);
  while (!hits.over.load(MemoryOrder::acquire)) {
    const auto all = [&] {
      return hits.in_program.load(MemoryOrder::relaxed) + hits.in_kernel.load(MemoryOrder::relaxed);
    };
    const std::uint64_t before = all();
    hits.kernel.controller().stop_others();
    for (int turns = 0; turns < 1'000 && all() == before; ++turns) arch::pause();
  }
}

}  // namespace

void run_payload(Kernel& kernel) {
  require(kernel.system_calls.fill());
  Hits hits{kernel, Atomic<std::uint64_t>(), Atomic<std::uint64_t>(), Atomic<bool>(), Atomic<bool>()};
  require(kernel.interrupts.claim(arch::exception::non_maskable, {count, &hits}));
  {
    TinyProgram program(kernel, makes_many_calls);
    const KernelThread other = require(spawn(kernel, "interrupts", interrupt_others, hits));
    while (!hits.begun.load(MemoryOrder::acquire)) kernel.scheduler.yield();  // on the other CPU, for good
    kernel.log.information("program ended with ", program.run());
    hits.over.store(true, MemoryOrder::release);
  }
  kernel.interrupts.release(arch::exception::non_maskable);
  const std::uint64_t in_program = hits.in_program.load(MemoryOrder::relaxed);
  const std::uint64_t in_kernel = hits.in_kernel.load(MemoryOrder::relaxed);
  if (in_program == 0 || in_kernel == 0) panic("expected interrupts in both, found ", in_program, ", ", in_kernel);
  kernel.log.information("interrupted ", in_program, " and ", in_kernel, " times, in programs and in the kernel");
}

}  // namespace ingot::os
