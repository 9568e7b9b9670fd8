// A worker: the process that computes for one client, and has nothing but that client's memory.
#pragma once

#include <sys/types.h>

#include "kernels/contract/operation.h"
#include "machine/accelerator/greeting.h"
#include "machine/accelerator/shared_memory.h"

namespace ingot {

struct WorkerTask {
  std::span<const Operation* const> operations;
  FeatureSet features;
  int threads = 1;
};

struct WorkerPlace {
  SharedMemory rings;  // with its identity
  Descriptor socket;   // the client's; memories come over it
  Descriptor worker_bell;
  Descriptor answer_bell;
  Descriptor fault_bell;
  pid_t broker = 0;
};

// In a process that was forked for it; ends it. Ends as well where the client leaves, or the broker.
[[noreturn]] void run_worker(WorkerPlace place, const WorkerTask& task);

}  // namespace ingot
