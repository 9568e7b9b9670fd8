// Threads of the kernel: spawn() starts one, its owner joins it.
//
//   KernelThread worker = TRY(spawn(kernel, "worker", [](Job& job) { job.work(); }, job));
//   worker.join();
#pragma once

#include <string_view>
#include <type_traits>
#include <utility>

#include "base/result.h"
#include "os/memory/user_memory.h"
#include "os/process/user_thread.h"
#include "os/schedule/executor.h"
#include "os/schedule/scheduler.h"

namespace ingot::os {

struct Kernel;

// The scheduler's view of real CPUs.
class ScheduleHardware final : public ScheduleMachine {
 public:
  void switch_context(Thread& from, Thread& to) override {
    if (from.address_space != to.address_space) load_address_space(to.address_space);
    if (from.vector_state != nullptr) {  // as every program's thread has
      from.vector_state->save();
      if (from.user_thread != nullptr) from.user_thread->end_run();
    }
    arch::switch_stack(from.saved_context, to.saved_context);
    if (from.vector_state == nullptr) return;
    from.vector_state->restore();
    if (from.user_thread != nullptr) from.user_thread->begin_run();
  }
  void notify(std::uint32_t cpu) override;
  void wait_for_interrupt() override { arch::wait_for_interrupt(); }
};

// What a thread does, with its types forgotten: `call` knows them.
struct ThreadBody {
  void (*call)(void (*function)(), void* argument) = nullptr;
  void (*function)() = nullptr;
  void* argument = nullptr;
};

// Whether a thread may use vector registers: then each switch saves and restores them.
enum class VectorUse : bool { none, own };

// A started thread, its stack and whatever else it needs.
class [[nodiscard]] KernelThread {
 public:
  static constexpr std::uint64_t stack_bytes = 16 * 1024;
  static constexpr std::uint64_t deep_stack_bytes = 32 * 1024;  // for one that loads a program: errors are large

  // The name must outlive the thread.
  static Result<KernelThread> start(Kernel& kernel, std::string_view name, ThreadBody body, VectorUse vectors,
                                    std::uint64_t stack_bytes, std::uint64_t cpus);
  KernelThread(KernelThread&& other) noexcept : record_(std::exchange(other.record_, nullptr)) {}
  KernelThread& operator=(KernelThread&&) = delete;
  // Joins as well: nobody frees a stack that somebody stands on.
  ~KernelThread() { join(); }

  // Sleeps until the thread has ended, and frees it.
  void join();

 private:
  struct Record;
  explicit KernelThread(Record& record) : record_(&record) {}

  Record* record_;  // none: joined
};

// function(argument) on a thread of its own, which may run on `cpus` (a bit each). The argument outlives it.
template <class Argument>
Result<KernelThread> spawn(Kernel& kernel, std::string_view name, void (*function)(std::type_identity_t<Argument>&),
                           Argument& argument, VectorUse vectors = VectorUse::none,
                           std::uint64_t stack_bytes = KernelThread::stack_bytes,
                           std::uint64_t cpus = Thread::every_cpu) {
  const auto call = [](void (*erased)(), void* object) {
    reinterpret_cast<void (*)(Argument&)>(erased)(*static_cast<Argument*>(object));
  };
  return KernelThread::start(kernel, name, {call, reinterpret_cast<void (*)()>(function), &argument}, vectors,
                             stack_bytes, cpus);
}
// On one CPU, for good.
template <class Argument>
Result<KernelThread> spawn_on(Kernel& kernel, std::uint32_t cpu, std::string_view name,
                              void (*function)(std::type_identity_t<Argument>&), Argument& argument) {
  return spawn(kernel, name, function, argument, VectorUse::none, KernelThread::stack_bytes, std::uint64_t{1} << cpu);
}

// Tasks on CPUs: each has an executor, and a thread that runs it.
//
//   TRY(Task<void>::spawn(current_tasks(), blink(kernel.memory->heap(), screen)));
//
// For all CPUs that the scheduler has. Executors and threads stay for good.
Result<void> start_tasks(Kernel& kernel);
// Of this CPU. Precondition: start_tasks.
inline Executor& current_tasks() { return *current_processor().tasks; }

}  // namespace ingot::os
