#include "os/process/process.h"

#include <memory>

#include "os/boot/kernel.h"

namespace ingot::os {

namespace {

constexpr std::uint64_t kernel_stack_bytes = 24 * 1024;  // tests/boot/check_stacks.py tells how much is used

}  // namespace

Result<Owned<Process>> Process::create(Kernel& kernel, std::uint64_t memory_limit, WritableCode writable_code) {
  Owned<ProgramMemory> memory = TRY(ProgramMemory::create(*kernel.memory, kernel.random, memory_limit, writable_code));
  Owned<ProcessFiles> files = TRY(ProcessFiles::create(
      {&kernel.memory->heap(), &kernel.memory->frames(), kernel.memory->window(), &kernel.machine_report, nullptr}));
  return make_owned<Process>(kernel.memory->heap(), kernel, std::move(memory), std::move(files));
}

Result<UserThread*> Process::add_thread(const arch::TrapFrame& frame, UserAddress thread_storage) {
  Allocator& heap = kernel_.memory->heap();
  // One after the other: g++ does not destroy the first members of a list in braces when TRY leaves it.
  KernelStack stack = TRY(take_stack());
  arch::VectorState vectors = TRY(arch::VectorState::create(heap));
  arch::VectorState returned_vectors = TRY(arch::VectorState::room_for(heap, vectors));
  void* block = TRY(heap.allocate(sizeof(UserThread), alignof(UserThread)));
  const std::uint32_t number = threads_.with([](Threads& threads) { return threads.next_number++; });
  auto* thread = std::construct_at(static_cast<UserThread*>(block), *this, number,
                                   UserThread::Rooms{std::move(stack), std::move(vectors), std::move(returned_vectors)},
                                   frame, thread_storage);
  threads_.with([&](Threads& threads) {
    threads.living.push_back(*thread);
    if (is_ending()) thread->add_work(program_work::ending);
  });
  return thread;
}

Result<KernelStack> Process::take_stack() {
  KernelStack stack = threads_.with([](Threads& threads) {
    return threads.spare_stack_count == 0 ? KernelStack()
                                          : std::move(threads.spare_stacks[--threads.spare_stack_count]);
  });
  if (stack.top() != VirtualAddress(0)) return stack;
  return kernel_.memory->allocate_stack(kernel_stack_bytes);
}

// One too many goes with `stack`, outside the lock.
void Process::keep_stack(KernelStack stack) {
  threads_.with([&](Threads& threads) {
    if (threads.spare_stack_count == threads.spare_stacks.size()) return;
    threads.spare_stacks[threads.spare_stack_count++] = std::move(stack);
  });
}

void Process::start(UserThread& thread) { kernel_.scheduler.start(thread.thread()); }

std::uint32_t Process::thread_count() {
  return threads_.with([](Threads& threads) {
    std::uint32_t count = 0;
    for (const UserThread& thread : threads.living) {
      static_cast<void>(thread);
      ++count;
    }
    return count;
  });
}

void Process::end(int status) {
  threads_.with([&](Threads& threads) { end_threads(threads, status); });
}

void Process::end_threads(Threads& threads, int status) {
  bool expected = false;
  if (!ending_.compare_exchange(expected, true, MemoryOrder::acquire_release)) return;
  status_.store(status, MemoryOrder::release);
  for (UserThread& thread : threads.living) {
    thread.add_work(program_work::ending);
    tell(thread);
  }
}

void Process::tell(UserThread& thread) {
  if (!kernel_.scheduler.wake(thread.thread())) kernel_.scheduler.interrupt(thread.thread());
}

void Process::thread_ends(UserThread& thread) {
  thread_ended_.wake_all_after([&] {
    threads_.with([&](Threads& threads) {
      threads.living.remove(thread);
      thread.signals.pending.forget(~SignalSet());
      offer(threads, threads.pending.set() & ~thread.signals.blocked, nullptr);
      threads.ended.push_back(thread);
    });
  });
  current_scheduler().exit();
}

// What another CPU counts at this moment may be read halfway: the most that was told stands.
Nanoseconds Process::processor_time() {
  const std::uint64_t cycles = threads_.with([](Threads& threads) {
    std::uint64_t sum = threads.freed_cycles;
    for (const UserThread& thread : threads.living) sum += thread.cycles();
    for (const UserThread& thread : threads.ended) sum += thread.cycles();
    return threads.most_cycles = sum > threads.most_cycles ? sum : threads.most_cycles;
  });
  return kernel_.clock->rate().nanoseconds(cycles);
}

Nanoseconds Process::processor_time_of(std::uint32_t number) {
  return kernel_.clock->rate().nanoseconds(threads_.with([&](Threads& threads) {
    const UserThread* const thread = threads.find(number);
    return thread != nullptr ? thread->cycles() : 0;
  }));
}

int Process::run() {
  Allocator& heap = kernel_.memory->heap();
  for (bool living = true; living;) {
    UserThread* ended = nullptr;
    thread_ended_.wait_until([&] {
      return threads_.with([&](Threads& threads) {
        ended = threads.ended.pop_front();
        living = !threads.living.is_empty() || !threads.ended.is_empty();
        return ended != nullptr || !living;
      });
    });
    if (ended == nullptr) break;
    ended->thread().join();
    threads_.with([&](Threads& threads) { threads.freed_cycles += ended->cycles(); });
    keep_stack(ended->take_stack());
    std::destroy_at(ended);
    heap.free(ended, sizeof(UserThread), alignof(UserThread));
  }
  return status_.load(MemoryOrder::acquire);
}

void end_without_memory(Kernel& kernel, UserThread* thread, const Error& error) {
  constexpr int ended_by_kill = 128 + 9;
  kernel.memory->report_once(kernel.log);
  if (thread == nullptr || thread->process().is_ending()) return;
  kernel.log.error("program: out of memory: ", error);
  thread->process().end(ended_by_kill);
}

}  // namespace ingot::os
