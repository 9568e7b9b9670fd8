#include "os/schedule/kernel_thread.h"

#include <memory>

#include "os/boot/kernel.h"
#include "os/interrupt/vectors.h"

namespace ingot::os {

struct KernelThread::Record {
  Record(Allocator& where, KernelStack space, std::string_view name, ThreadBody what)
      : heap(where), stack(std::move(space)), thread(name), body(what) {}

  [[noreturn]] static void enter(void* argument) {
    const Record& record = *static_cast<Record*>(argument);
    current_scheduler().begin_thread();
    if (record.vector_state) record.vector_state->restore();
    record.body.call(record.body.function, record.body.argument);
    current_scheduler().exit();
  }

  Allocator& heap;
  KernelStack stack;
  std::optional<arch::VectorState> vector_state;
  Thread thread;
  std::optional<LockChecker> lock_checker;
  ThreadBody body;
};

Result<KernelThread> KernelThread::start(Kernel& kernel, std::string_view name, ThreadBody body, VectorUse vectors,
                                         std::uint64_t bytes, std::uint64_t cpus) {
  Allocator& heap = kernel.memory->heap();
  std::optional<arch::VectorState> vector_state;
  if (vectors == VectorUse::own) vector_state.emplace(TRY(arch::VectorState::create(heap)));
  KernelStack stack = TRY(kernel.memory->allocate_stack(bytes));
  void* block = TRY(heap.allocate(sizeof(Record), alignof(Record)));
  Record& record = *std::construct_at(static_cast<Record*>(block), heap, std::move(stack), name, body);
  if (vector_state) record.thread.vector_state = &record.vector_state.emplace(std::move(*vector_state));
  if (LockViolationHandler* handler = kernel.scheduler.lock_checks()) {
    record.thread.lock_checker = &record.lock_checker.emplace(*handler);
  }
  record.thread.saved_context = arch::prepare_stack(record.stack.top(), &Record::enter, &record);
  kernel.scheduler.restrict(record.thread, cpus);
  kernel.scheduler.start(record.thread);
  return KernelThread(record);
}

void KernelThread::join() {
  if (record_ == nullptr) return;
  Record& record = *std::exchange(record_, nullptr);
  record.thread.join();
  Allocator& heap = record.heap;
  std::destroy_at(&record);
  heap.free(&record, sizeof(Record), alignof(Record));
}

void ScheduleHardware::notify(std::uint32_t cpu) {
  arch::current_cpu().kernel->controller().send(cpu, vectors::reschedule);
}

Result<void> start_tasks(Kernel& kernel) {
  struct Tasks {
    Executor executor;
    std::optional<KernelThread> thread;
  };
  for (Processor* processor : kernel.scheduler.processors()) {
    void* block = TRY(kernel.memory->heap().allocate(sizeof(Tasks)));
    Tasks& tasks = *std::construct_at(static_cast<Tasks*>(block));
    const auto run = [](Executor& executor) { executor.run_until([] { return false; }); };
    tasks.thread.emplace(TRY(spawn_on(kernel, processor->index, "tasks", run, tasks.executor)));
    processor->tasks = &tasks.executor;
  }
  return {};
}

}  // namespace ingot::os
