#include "os/schedule/tasks.h"

#include <memory>

#include "os/boot/kernel.h"

namespace ingot::os {

Result<void> start_tasks(Kernel& kernel) {
  struct Tasks {
    Executor executor;
    std::optional<KernelThread> thread;
  };
  for (Processor* processor : kernel.scheduler.processors()) {
    void* block = TRY(kernel.memory->heap().allocate(sizeof(Tasks)));
    Tasks& tasks = *std::construct_at(static_cast<Tasks*>(block));
    const auto run = [](Executor& executor) { executor.run_until([] { return false; }); };
    tasks.thread.emplace(TRY(spawn(kernel, "tasks", run, tasks.executor)));
    processor->tasks = &tasks.executor;
  }
  return {};
}

}  // namespace ingot::os
