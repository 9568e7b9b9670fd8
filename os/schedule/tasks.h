// Tasks on CPUs: each has an executor, and a thread that runs it.
//
//   TRY(Task<void>::spawn(current_tasks(), blink(kernel.memory->heap(), screen)));
#pragma once

#include "base/result.h"
#include "os/schedule/executor.h"
#include "os/schedule/scheduler.h"

namespace ingot::os {

struct Kernel;

// For all CPUs that the scheduler has. Executors and threads stay for good.
Result<void> start_tasks(Kernel& kernel);
// Of this CPU. Precondition: start_tasks.
inline Executor& current_tasks() { return *current_processor().tasks; }

}  // namespace ingot::os
