// The other CPUs: each is reset, begins below 1 MiB (processor_start.S), and ends in its idle thread.
#include <memory>

#include "os/boot/kernel.h"
#include "os/boot/start.h"
#include "os/interrupt/vectors.h"

namespace ingot::os {

namespace {

constexpr Nanoseconds after_reset(10'000'000), before_second_try(200'000), patience(2'000'000'000);

// A CPU on its way, and how it talks with CPU 0 until it runs: CPU 0 raises `asked`, it answers by the same number.
struct NewProcessor {
  NewProcessor(Kernel& owner, std::uint32_t index) : kernel(owner), processor(index) {}

  Kernel& kernel;
  Processor processor;
  KernelStack stack;
  Atomic<std::uint32_t> asked{arrive}, answered;
  Atomic<std::uint64_t> cycles;  // its counter, at the answer

  static constexpr std::uint32_t arrive = 1, last_clock_round = 4, run = 100;
};

template <class Condition>
bool wait_until(const Kernel& kernel, Nanoseconds longest, Condition&& holds) {
  const Nanoseconds end = kernel.now() + longest;
  while (!holds()) {
    if (kernel.now() > end) return false;
    arch::pause();
  }
  return true;
}

// The new CPU's first C++: interrupts off, on its own stack.
[[noreturn]] void enter(void* argument) {
  NewProcessor& self = *static_cast<NewProcessor*>(argument);
  Kernel& kernel = self.kernel;
  kernel.platform.adopt_other_cpu(kernel, self.processor);
  kernel.interrupt_hardware.apics()->local().enable();
  kernel.time_hardware.attach_cpu();
  for (std::uint32_t asked = 0; asked != NewProcessor::run;) {
    asked = self.asked.load(MemoryOrder::acquire);
    if (asked == self.answered.load(MemoryOrder::relaxed)) {
      arch::pause();
      continue;
    }
    arch::cpuid(0);  // the counter is not read before the question was
    self.cycles.store(arch::cycle_count(), MemoryOrder::relaxed);
    self.answered.store(asked, MemoryOrder::release);
  }
  kernel.scheduler.adopt_cpu(self.processor);
  kernel.calls.set_running(self.processor.index);
  kernel.scheduler.idle();
}

// What the new CPU's cycle counter lacks of ours. Its reading must lie between two of ours; where it does not, the
// quickest answer tells the difference best.
std::uint64_t measure_cycle_offset(NewProcessor& other) {
  std::uint64_t offset = 0, quickest = ~std::uint64_t{0};
  for (std::uint32_t round = NewProcessor::arrive + 1; round <= NewProcessor::last_clock_round; ++round) {
    const std::uint64_t before = arch::cycle_count();
    other.asked.store(round, MemoryOrder::release);
    while (other.answered.load(MemoryOrder::acquire) != round) arch::pause();
    const std::uint64_t taken = arch::cycle_count() - before;
    const std::uint64_t found = other.cycles.load(MemoryOrder::relaxed) - before;
    if (taken >= quickest) continue;
    quickest = taken;
    offset = found <= taken ? 0 : taken / 2 - found;
  }
  return offset;
}

Result<void> start(Kernel& kernel, ApicController& apics, PhysicalAddress pages, NewProcessor& other) {
  const std::uint32_t cpu = other.processor.index, apic = apics.apic_ids()[cpu];
  other.stack = TRY(kernel.memory->allocate_stack(KernelThread::stack_bytes));
  TRY(kernel.platform.allocate_interrupt_stacks(*kernel.memory, other.processor));
  other.processor.timers.emplace(kernel.time_hardware.alarm());
  kernel.platform.set_start(pages, other.stack.top(), &enter, &other);
  const auto arrived = [&] { return other.answered.load(MemoryOrder::acquire) == NewProcessor::arrive; };
  const auto page = static_cast<std::uint8_t>(pages.value() / page_bytes);
  apics.local().send_start(apic, page);
  // The first start may be lost on old CPUs; one that has begun ignores the second.
  if (!wait_until(kernel, before_second_try, arrived)) apics.local().send_start(apic, page);
  if (!wait_until(kernel, patience, arrived)) {
    apics.local().send_reset(apic);  // it must not come later, when its stack is gone
    return Error::of(ErrorCode::not_found, "expected the CPU with APIC number ", apic,
                     " to start, found no sign of it");
  }
  other.processor.cycle_offset = measure_cycle_offset(other);
  if (other.processor.cycle_offset != 0) {
    kernel.log.warning("clock: the counter of CPU ", cpu, " differed by ",
                       static_cast<std::int64_t>(other.processor.cycle_offset), " cycles");
  }
  return {};
}

Result<void> add(Kernel& kernel, ApicController& apics, PhysicalAddress pages, std::uint32_t cpu) {
  Owned<NewProcessor> other = TRY(make_owned<NewProcessor>(kernel.memory->heap(), kernel, cpu));
  TRY(kernel.memory->add_cpu(cpu));
  TRY(start(kernel, apics, pages, *other));
  require(kernel.scheduler.add(other->processor), "processors");
  NewProcessor& running = *other.release();  // for as long as the machine runs
  running.asked.store(NewProcessor::run, MemoryOrder::release);
  while ((kernel.calls.running() >> cpu & 1) == 0) arch::pause();
  return {};
}

}  // namespace

void start_processors(Kernel& kernel) {
  kernel.calls.set_running(kernel.boot_processor.index);
  ApicController* apics = kernel.interrupt_hardware.apics();
  if (apics == nullptr) return;
  const auto leave_halt = [](void*, arch::TrapFrame&) {};
  const auto on_call = [](void* context, arch::TrapFrame&) { static_cast<Kernel*>(context)->calls.answer(); };
  require(kernel.interrupts.claim(vectors::reschedule, {leave_halt, nullptr}), "processors");
  require(kernel.interrupts.claim(vectors::call, {on_call, &kernel}), "processors");
  kernel.calls.start(*apics);
  kernel.memory->tlb().set_others(kernel.calls);

  const std::size_t count = apics->apic_ids().size();
  if (const std::uint32_t more = apics->processors_left_out()) {
    kernel.log.warning("processors: expected at most ", Scheduler::most_processors, " with numbers up to ",
                       apics->local().highest_id(), ", found ", more, " more: not used");
  }
  if (count == 1) return;
  if (!kernel.start_pages) return kernel.log.warning("processors: expected memory below 1 MiB for them, found none");
  kernel.platform.prepare_start(*kernel.start_pages);
  for (const std::uint32_t apic : apics->apic_ids().subspan(1)) apics->local().send_reset(apic);
  wait_until(kernel, after_reset, [] { return false; });
  for (std::uint32_t cpu = 1; cpu < apics->apic_ids().size();) {
    const Result<void> added = add(kernel, *apics, *kernel.start_pages, cpu);
    if (added.ok()) {
      ++cpu;
    } else {
      kernel.log.warning("processors: ", added.error());
      apics->forget(cpu);
    }
  }
  kernel.log.information("processors: ", apics->apic_ids().size(), " of ", count, " run");
}

}  // namespace ingot::os
