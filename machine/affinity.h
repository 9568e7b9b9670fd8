// Binding one thread to one CPU.
#pragma once

#include <pthread.h>

#include <vector>

#include "base/result.h"

namespace ingot {

// Lets the thread run on these CPUs only.
Result<void> set_thread_cpus(pthread_t thread, const std::vector<int>& cpus);

}  // namespace ingot
