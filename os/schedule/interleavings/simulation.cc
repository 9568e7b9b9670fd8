#include "os/schedule/interleavings/simulation.h"

#include <array>
#include <cstdlib>
#include <utility>

#if defined(INGOT_ADDRESS_SANITIZED)
#include <sanitizer/asan_interface.h>
#endif

namespace ingot {

// The hooks have no argument, so there is one active simulation at a time.
static os::interleavings::Simulation* active = nullptr;

void before_atomic_access(AtomicAccess access) {
  if (active != nullptr) active->before_access(access);
}

namespace os::interleavings {

// More than any scenario needs: CPUs that only spin on each other would go on forever.
static constexpr std::uint64_t most_steps = 20'000;

char* StackPool::take() {
  if (used_ == stacks_.size()) stacks_.push_back(std::make_unique<char[]>(stack_bytes));
  char* stack = stacks_[used_++].get();
#if defined(INGOT_ADDRESS_SANITIZED)
  // The last run may have left frames, and marks around their variables.
  __asan_unpoison_memory_region(stack, stack_bytes);
#endif
  return stack;
}

Simulation::Simulation(std::uint32_t cpus, Chooser& chooser, StackPool& stacks) : chooser_(chooser), stacks_(stacks) {
  stacks_.give_all_back();
  for (std::uint32_t i = 0; i < cpus; ++i) {
    cpus_.push_back(std::make_unique<Cpu>());
    cpus_[i]->processor = std::make_unique<Processor>(i);
    if (!scheduler_.add(*cpus_[i]->processor).ok()) std::abort();
  }
}

Simulation::~Simulation() {
  // A run that failed leaves threads in the queues; they are forgotten with them.
  for (const std::unique_ptr<Cpu>& cpu : cpus_) {
    while (cpu->processor->ready.pop() != nullptr) {
    }
  }
}

void Simulation::run(const std::function<void()>& begin) {
  for (std::uint32_t i = 0; i < cpus_.size(); ++i) {
    Fiber& idle = make_fiber([this, i, &begin] {
      scheduler_.adopt_cpu(processor(i));
      if (i == 0) begin();
      // Between two looks for work interrupts are on: a step to let them in.
      while (true) {
        before_access(AtomicAccess::read);
        scheduler_.idle_once();
      }
    });
    processor(i).idle.saved_context = &idle;
    cpus_[i]->fiber = &idle;
    idle.runs = true;
    prepare(idle);
  }
  arch::hosted::thread.on_pause = [] {
    if (active != nullptr) active->on_pause();
  };
  active = this;
  become(0);
  swapcontext(&outside_, &cpus_[0]->fiber->context);
  active = nullptr;
  arch::hosted::thread = {};
  if (failure_.empty()) judge_end();
}

// No CPU can take a step: all halt and none was notified. Then nothing may be left to do.
void Simulation::judge_end() {
  for (const std::unique_ptr<Cpu>& cpu : cpus_) {
    if (cpu->state == CpuState::spins) fail("a CPU spins, and nobody can end it");
    if (!cpu->processor->ready.looks_empty()) fail("all CPUs halt, and a thread is ready");
  }
  for (const std::unique_ptr<Fiber>& fiber : fibers_) {
    if (fiber->thread == nullptr || fiber->thread->state() == ThreadState::finished) continue;
    fail("thread " + std::string(fiber->thread->name()) + " stays " + std::string(name_of(fiber->thread->state())));
  }
}

Thread& Simulation::start_thread(std::string_view name, std::function<void()> body, std::uint64_t cpus) {
  Fiber& fiber = make_thread(name, std::move(body));
  scheduler_.restrict(*fiber.thread, cpus);
  scheduler_.start(*fiber.thread);
  return *fiber.thread;
}

Thread& Simulation::start_program(std::string_view name, std::function<bool()> over, std::uint64_t cpus) {
  Fiber& fiber = make_thread(name, [this, over = std::move(over)] { stay_in_program(over); });
  fiber.thread->user_thread = reinterpret_cast<UserThread*>(&fiber);  // the scheduler asks only whether there is one
  scheduler_.restrict(*fiber.thread, cpus);
  scheduler_.start(*fiber.thread);
  return *fiber.thread;
}

void Simulation::stay_in_program(const std::function<bool()>& over) {
  for (bool leaves = true; leaves || !over();) {
    // On its way to ring 3, interrupts off: one that arrives from here on is taken there.
    arch::disable_interrupts();
    while (true) {
      current_processor().runs_programs.store(true, MemoryOrder::sequentially_consistent);
      if (!current_processor().is_wanted_at_once()) break;
      scheduler_.yield();
    }
    cpus_[current_]->interrupted = false;
    cpus_[current_]->in_program = true;
    arch::enable_interrupts();
    while (!cpus_[current_]->interrupted && !over()) arch::pause();
    cpus_[current_]->in_program = false;
    leaves = cpus_[current_]->interrupted;
  }
}

void Simulation::interrupt_program(const std::function<void()>& handler) {
  const InterruptsOff quiet;
  handler();
  cpus_[current_]->interrupted = true;
}

Simulation::Fiber& Simulation::make_thread(std::string_view name, std::function<void()> body) {
  Fiber& fiber = make_fiber([this, body = std::move(body)] {
    scheduler_.begin_thread();
    body();
    scheduler_.exit();
  });
  fiber.thread = std::make_unique<Thread>(name);
  fiber.thread->saved_context = &fiber;
  prepare(fiber);
  return fiber;
}

void Simulation::fail(std::string_view text) {
  if (failure_.empty()) failure_ = text;
  if (active != nullptr) leave();
}

Simulation::Fiber& Simulation::make_fiber(std::function<void()> body) {
  fibers_.push_back(std::make_unique<Fiber>());
  fibers_.back()->body = std::move(body);
  return *fibers_.back();
}

void Simulation::prepare(Fiber& fiber) {
  getcontext(&fiber.context);
  fiber.context.uc_stack.ss_sp = stacks_.take();
  fiber.context.uc_stack.ss_size = StackPool::stack_bytes;
  fiber.context.uc_link = nullptr;
  // makecontext passes integers only.
  const auto address = reinterpret_cast<std::uintptr_t>(&fiber);
  makecontext(&fiber.context, reinterpret_cast<void (*)()>(&enter_fiber), 2, static_cast<unsigned>(address >> 32),
              static_cast<unsigned>(address));
}

void Simulation::enter_fiber(unsigned high, unsigned low) {
  const std::uintptr_t address = (static_cast<std::uintptr_t>(high) << 32) | low;
  reinterpret_cast<Fiber*>(address)->body();
  std::abort();  // idle threads go on, the others exit
}

void Simulation::before_access(AtomicAccess access) {
  if (++steps_ > most_steps) fail("no end after many steps: CPUs wait for each other in turns");
  finish_step();
  Cpu& cpu = *cpus_[current_];
  cpu.writes = access == AtomicAccess::write;
  cpu.paused = false;
  // An interrupt that finds the CPU at work is over before its next step; only one that waits for them to be on is
  // kept.
  if (arch::interrupts_enabled() && std::exchange(cpu.notified, false)) cpu.interrupted = true;
  take_turns();
}

// Whoever spins waits for a write of another CPU; before one, it would read what it has read.
void Simulation::finish_step() {
  if (!std::exchange(cpus_[current_]->writes, false)) return;
  ++writes_;
  ++cpus_[current_]->own_writes;
  for (const std::unique_ptr<Cpu>& cpu : cpus_) {
    if (cpu->state == CpuState::spins) cpu->state = CpuState::can_step;
  }
}

void Simulation::on_pause() {
  finish_step();
  Cpu& cpu = *cpus_[current_];
  if (cpu.in_program && cpu.interrupted) return;
  // Several pauses in a row are one longer wait.
  if (std::exchange(cpu.paused, true)) return;
  // Others wrote since the last turn of the loop, perhaps after it read: it looks once more.
  const std::uint64_t others_writes = writes_ - cpu.own_writes;
  if (std::exchange(cpu.others_writes_at_pause, others_writes) != others_writes) return;
  cpu.state = CpuState::spins;
  take_turns();
  cpu.state = CpuState::can_step;
  if (cpu.in_program && std::exchange(cpu.notified, false)) cpu.interrupted = true;
}

void Simulation::notify(std::uint32_t cpu) { cpus_[cpu]->notified = true; }

void Simulation::wait_for_interrupt() {
  finish_step();
  Cpu& cpu = *cpus_[current_];
  cpu.state = CpuState::halts;
  take_turns();
  cpu.state = CpuState::can_step;
  cpu.notified = false;
}

bool Simulation::can_step(const Cpu& cpu) const {
  return cpu.state == CpuState::can_step || (cpu.notified && (cpu.state == CpuState::halts || cpu.in_program));
}

void Simulation::take_turns() {
  std::array<std::uint32_t, Scheduler::most_processors> ways{};
  std::uint32_t count = 0;
  const bool can_go_on = can_step(*cpus_[current_]);
  if (can_go_on) ways[count++] = current_;
  for (std::uint32_t i = 0; i < cpus_.size(); ++i) {
    if (i != current_ && can_step(*cpus_[i])) ways[count++] = i;
  }
  if (count == 0) leave();
  const std::uint32_t next = count == 1 ? ways[0] : ways[chooser_.choose(count, can_go_on)];
  if (next == current_) return;
  Fiber& from = *cpus_[current_]->fiber;
  become(next);
  swapcontext(&from.context, &cpus_[next]->fiber->context);
}

void Simulation::become(std::uint32_t cpu) {
  cpus_[current_]->interrupts_enabled = arch::hosted::thread.interrupts_enabled;
  current_ = cpu;
  arch::hosted::thread.interrupts_enabled = cpus_[cpu]->interrupts_enabled;
  arch::hosted::thread.header = cpus_[cpu]->processor.get();
}

void Simulation::switch_context(Thread& from, Thread& to) {
  Fiber& left = *static_cast<Fiber*>(from.saved_context);
  Fiber& taken = *static_cast<Fiber*>(to.saved_context);
  expect(!arch::interrupts_enabled(), "interrupts are on during a switch");
  expect(!taken.runs, "a thread runs on two CPUs at once");
  left.runs = false;
  taken.runs = true;
  cpus_[current_]->fiber = &taken;
  swapcontext(&left.context, &taken.context);
}

void Simulation::leave() {
  active = nullptr;
  setcontext(&outside_);
  std::abort();
}

}  // namespace os::interleavings
}  // namespace ingot
