#include "os/schedule/scheduler.h"

#include <bit>

#include "os/schedule/lock_checker.h"
#include "os/trace/tracepoint.h"

namespace ingot::os {

static constexpr std::uint32_t nobody = Scheduler::most_processors;  // no CPU was called

Thread& current_thread() { return *current_processor().current; }
void block_current_thread() { current_scheduler().block(); }
void wake_current_thread() { current_scheduler().wake(*current_processor().current); }

static void expect_no_spin_lock(const Processor& processor) {
  if (processor.lock_checker == nullptr) return;
  processor.lock_checker->expect_none("expected no spin lock held by a thread that leaves its CPU, found one");
}

inline Thread* Scheduler::own_thread(Processor& processor) {
  Thread* own = processor.ready.pop();
  return own == nullptr || own->may_run_on(processor.index) ? own : send_away(processor, own);
}

Result<void> Scheduler::add(Processor& processor) {
  const std::uint32_t place = count_.load(MemoryOrder::relaxed);
  if (processor.index != place || place == most_processors) {
    return Error::of(ErrorCode::invalid_argument, "expected processor ", place, " of at most ", most_processors,
                     ", found ", processor.index);
  }
  processors_[place] = &processor;
  processor.scheduler = this;
  processor.lock_reports = lock_reports_;
  if (lock_checks_ == LockChecks::on) {
    processor.lock_checkers.emplace(*lock_reports_);
    processor.lock_checker = &processor.lock_checkers->of_threads;
    processor.other_lock_checker = &processor.lock_checkers->of_interrupts;
  }
  count_.store(place + 1, MemoryOrder::release);
  return {};
}

void Scheduler::adopt_cpu(Processor& processor) {
  arch::set_current_cpu(processor);
  processor.idle.state_.store(ThreadState::running, MemoryOrder::release);
}

void Scheduler::start(Thread& thread) {
  const InterruptsOff quiet;
  thread.last_cpu_.store(current_processor().index, MemoryOrder::relaxed);
  if (!thread.move_state(ThreadState::created, ThreadState::ready)) __builtin_trap();
  enqueue(thread, RunQueue::Turn::as_it_came);
}

void Scheduler::yield() {
  const InterruptsOff quiet;
  Processor& processor = current_processor();
  expect_no_spin_lock(processor);
  Thread* next = own_thread(processor);
  if (next == nullptr && processor.current->may_run_on(processor.index)) return;
  processor.current->state_.store(ThreadState::yielding, MemoryOrder::release);
  switch_to(processor, next != nullptr ? *next : processor.idle);
}

// One that is ready in the wrong queue is found when its turn comes there.
void Scheduler::restrict(Thread& thread, std::uint64_t cpus) {
  thread.allowed_cpus_.store(cpus, MemoryOrder::sequentially_consistent);
  if (&thread != &current_thread()) return interrupt(thread);
  if (!thread.may_run_on(current_processor().index)) yield();
}

void Scheduler::block() {
  const InterruptsOff quiet;
  Processor& processor = current_processor();
  expect_no_spin_lock(processor);
  if (processor.current == &processor.idle) __builtin_trap();  // it runs when nobody else can, and so never sleeps
  if (processor.current->move_state(ThreadState::woken, ThreadState::running)) return;
  Thread* next = next_thread(processor);
  switch_to(processor, next != nullptr ? *next : processor.idle);
}

bool Scheduler::wake(Thread& thread) {
  // Still on its stack: its own CPU will find the mark when it has left the stack. It goes from blocking to blocked and
  // never back, so two looks in this order miss nothing.
  if (thread.move_state(ThreadState::blocking, ThreadState::woken)) return true;
  if (!thread.move_state(ThreadState::blocked, ThreadState::ready)) return false;
  const InterruptsOff quiet;
  enqueue(thread, turn_of_woken(thread));
  return true;
}

void Scheduler::interrupt(Thread& thread) {
  const InterruptsOff quiet;
  const std::uint32_t cpu = thread.last_cpu();
  if (thread.state() == ThreadState::running && cpu != current_processor().index) machine_.notify(cpu);
}

void Scheduler::exit() {
  arch::disable_interrupts();
  Processor& processor = current_processor();
  processor.current->state_.store(ThreadState::finishing, MemoryOrder::release);
  Thread* next = next_thread(processor);
  switch_to(processor, next != nullptr ? *next : processor.idle);
  __builtin_trap();  // nobody continues a thread that has finished
}

void Scheduler::begin_thread() {
  finish_switch();
  arch::enable_interrupts();
}

// Setting the bit and looking at the queues, here, and pushing and looking at the bits, in enqueue, each have a fence
// between them: one of the two sees the other, so no thread waits in a queue while this CPU halts.
void Scheduler::idle_once() {
  const InterruptsOff quiet;
  Processor& processor = current_processor();
  const std::uint64_t bit = std::uint64_t{1} << processor.index;
  Thread* next = next_thread(processor);
  if (next == nullptr) {
    idle_cpus_.fetch_or(bit, MemoryOrder::relaxed);
    atomic_fence(MemoryOrder::sequentially_consistent);
    next = next_thread(processor);
    // A notification sent before the halt is pending, because interrupts are off: it ends the halt at once.
    if (next == nullptr) machine_.wait_for_interrupt();
    idle_cpus_.fetch_and(~bit, MemoryOrder::acquire);
  }
  if (next == nullptr) return;
  // Somebody may have called this CPU for another thread than it found: then nobody else knows of that one.
  for (const Processor* other : processors()) {
    if (other == &processor || other->ready.looks_empty()) continue;
    const bool nobody_halts = call_idle_cpu(other->index, Thread::every_cpu) == nobody;
    if (nobody_halts && other->runs_programs.load(MemoryOrder::relaxed)) machine_.notify(other->index);
  }
  switch_to(processor, *next);
}

void Scheduler::enqueue(Thread& thread, RunQueue::Turn turn) {
  const std::uint64_t allowed = thread.allowed_cpus();  // once it is in the queue, it may run and end
  const std::uint32_t last = thread.last_cpu(), cpu = (allowed >> last & 1) != 0 ? last : place_of(allowed);
  processors_[cpu]->ready.push(thread, turn);
  atomic_fence(MemoryOrder::sequentially_consistent);
  const bool some_halt = (idle_cpus_.load(MemoryOrder::relaxed) & allowed) != 0;
  const std::uint32_t called = some_halt ? call_idle_cpu(cpu, allowed) : nobody;
  if (called == cpu || cpu == current_processor().index) return;
  // A program that runs there learns only by an interrupt that it must share. Where another CPU was called it may keep
  // its own, but for a thread that goes first: the other CPU may have found something else to do.
  if (called != nobody && turn != RunQueue::Turn::first) return;
  if (processors_[cpu]->runs_programs.load(MemoryOrder::relaxed)) machine_.notify(cpu);
}

// One of these CPUs, best one that halts.
std::uint32_t Scheduler::place_of(std::uint64_t allowed) const {
  const std::uint64_t idle = idle_cpus_.load(MemoryOrder::relaxed) & allowed;
  return static_cast<std::uint32_t>(std::countr_zero(idle != 0 ? idle : allowed));
}

// Wakes `preferred` if it halts, else any that does and is allowed: it will steal. Clearing a bit claims that CPU, so
// that two threads that become ready call two of them.
std::uint32_t Scheduler::call_idle_cpu(std::uint32_t preferred, std::uint64_t allowed) {
  std::uint64_t idle = idle_cpus_.load(MemoryOrder::relaxed) & allowed;
  while (idle != 0) {
    const std::uint64_t wanted = std::uint64_t{1} << preferred;
    const std::uint64_t bit = (idle & wanted) != 0 ? wanted : std::uint64_t{1} << std::countr_zero(idle);
    idle = idle_cpus_.fetch_and(~bit, MemoryOrder::relaxed) & allowed;
    if ((idle & bit) == 0) continue;
    const auto cpu = static_cast<std::uint32_t>(std::countr_zero(bit));
    // The bit is our own when we are the handler that interrupts this CPU's halt: it looks at the queues anyway.
    if (cpu != current_processor().index) machine_.notify(cpu);
    return cpu;
  }
  return nobody;
}

// A thread that was restricted while it waited goes to where it may run.
Thread* Scheduler::send_away(Processor& processor, Thread* thread) {
  while (thread != nullptr && !thread->may_run_on(processor.index)) {
    enqueue(*thread, RunQueue::Turn::as_it_came);
    thread = processor.ready.pop();
  }
  return thread;
}

Thread* Scheduler::next_thread(Processor& processor) {
  if (Thread* own = own_thread(processor)) return own;
  const std::uint32_t count = count_.load(MemoryOrder::acquire);
  for (std::uint32_t distance = 1; distance < count; ++distance) {
    Thread* stolen = processors_[(processor.index + distance) % count]->ready.steal(processor.index);
    if (stolen == nullptr) continue;
    ++processor.steals;
    return stolen;
  }
  return nullptr;
}

void Scheduler::switch_to(Processor& processor, Thread& next) {
  Thread& from = *processor.current;
  trace(processor, &Tracepoints::thread_switch, from, next);
  processor.left = &from;
  processor.current = &next;
  ++processor.switches;
  if (&next != &processor.idle) {
    next.last_cpu_.store(processor.index, MemoryOrder::relaxed);
    next.state_.store(ThreadState::running, MemoryOrder::release);
  }
  machine_.switch_context(from, next);
  finish_switch();
}

// Runs on the stack of the thread that was switched to, perhaps on another CPU than that thread remembers: only now may
// others continue the one that was left.
void Scheduler::finish_switch() {
  Processor& processor = current_processor();
  Thread& left = *processor.left;
  processor.left = nullptr;
  RunQueue::Turn turn = RunQueue::Turn::as_it_came;
  if (&left == &processor.idle) return;
  switch (left.state()) {
    case ThreadState::finishing:
      left.finished_.wake_all_after([&] { left.state_.store(ThreadState::finished, MemoryOrder::release); });
      return;
    case ThreadState::blocking:
      if (left.move_state(ThreadState::blocking, ThreadState::blocked)) return;
      [[fallthrough]];  // woken in this moment
    case ThreadState::woken: turn = turn_of_woken(left); break;
    case ThreadState::yielding: break;
    default: __builtin_trap();
  }
  left.state_.store(ThreadState::ready, MemoryOrder::release);
  enqueue(left, turn);
}

}  // namespace ingot::os
