#include "machine/affinity.h"

#include <sched.h>

#include <algorithm>
#include <cstring>

namespace ingot {

Result<void> set_thread_cpus(pthread_t thread, const std::vector<int>& cpus) {
  if (cpus.empty() || *std::min_element(cpus.begin(), cpus.end()) < 0) {
    return Error::of(ErrorCode::invalid_argument, "expected CPUs to bind a thread to, found ", cpus.size(),
                     " usable numbers");
  }
  auto capacity = static_cast<std::size_t>(*std::max_element(cpus.begin(), cpus.end())) + 1;
  cpu_set_t* mask = CPU_ALLOC(capacity);
  if (mask == nullptr) return Error::of(ErrorCode::out_of_memory, "expected memory for a CPU mask, found none");
  std::size_t mask_bytes = CPU_ALLOC_SIZE(capacity);
  CPU_ZERO_S(mask_bytes, mask);
  for (int cpu : cpus) CPU_SET_S(static_cast<std::size_t>(cpu), mask_bytes, mask);
  int failure = pthread_setaffinity_np(thread, mask_bytes, mask);
  CPU_FREE(mask);
  if (failure == 0) return {};
  return Error::of(ErrorCode::input_output, "expected to bind a thread to CPU ", cpus.front(), " (of ", cpus.size(),
                   "), found: ", std::strerror(failure));
}

}  // namespace ingot
