// ResourceLimits: how much a program may use of what (man 2 getrlimit). It lowers them as it likes; nobody raises the
// most, for the manifest and the machine set it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "os/syscall/errno.h"

namespace ingot::os {

// By Linux's numbers.
enum class Resource : std::uint32_t {
  processor_time = 0,  // RLIMIT_CPU, in seconds: SIGXCPU at the current limit, the end at the most
  file_size = 1,       // RLIMIT_FSIZE: a write beyond it is EFBIG, and SIGXFSZ
  data = 2,            // RLIMIT_DATA
  stack = 3,           // RLIMIT_STACK
  core = 4,            // RLIMIT_CORE
  resident = 5,        // RLIMIT_RSS
  processes = 6,       // RLIMIT_NPROC
  open_files = 7,      // RLIMIT_NOFILE: descriptors are below it
  locked_memory = 8,   // RLIMIT_MEMLOCK
  address_space = 9,   // RLIMIT_AS: of all mappings (program_account.h)
  file_locks = 10,     // RLIMIT_LOCKS
  pending_signals = 11,
  message_bytes = 12,  // RLIMIT_MSGQUEUE
  niceness = 13,
  real_time_priority = 14,
  real_time = 15  // RLIMIT_RTTIME
};
inline constexpr std::size_t resource_count = 16;

// struct rlimit64.
struct ResourceLimit {
  static constexpr std::uint64_t unlimited = ~std::uint64_t{0};  // RLIM_INFINITY

  std::uint64_t current = unlimited;
  std::uint64_t most = unlimited;
};

class ResourceLimits {
 public:
  const ResourceLimit& of(Resource resource) const { return limits_[static_cast<std::size_t>(resource)]; }
  void start(Resource resource, ResourceLimit limit) { limits_[static_cast<std::size_t>(resource)] = limit; }
  // EINVAL: more now than at most; EPERM: more than the most.
  Answer<void> change(Resource resource, ResourceLimit wanted);

 private:
  std::array<ResourceLimit, resource_count> limits_;
};

}  // namespace ingot::os
