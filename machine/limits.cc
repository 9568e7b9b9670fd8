#include "machine/limits.h"

#include <sched.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "machine/parse.h"
#include "machine/system_files.h"

namespace ingot {
namespace {

std::vector<CgroupDirectory> own_cgroup_directories(std::string_view controller) {
  std::optional<std::string> cgroups = read_text_file("/proc/self/cgroup");
  std::optional<std::string> mounts = read_text_file("/proc/self/mountinfo");
  if (!cgroups || !mounts) return {};
  return cgroup_directories(*cgroups, *mounts, controller);
}

std::optional<int> cpu_quota_of(const CgroupDirectory& directory) {
  if (directory.version == CgroupVersion::v2) {
    std::optional<std::string> text = read_text_file(directory.path + "/cpu.max");
    return text ? parse_cpu_max(*text) : std::nullopt;
  }
  std::optional<std::string> quota = read_text_file(directory.path + "/cpu.cfs_quota_us");
  std::optional<std::string> period = read_text_file(directory.path + "/cpu.cfs_period_us");
  return quota && period ? parse_cpu_quota(*quota, *period) : std::nullopt;
}

std::optional<Bytes> memory_limit_of(const CgroupDirectory& directory) {
  bool v2 = directory.version == CgroupVersion::v2;
  // "max" in v2 does not parse, hence is no limit; v1 writes a number beyond any machine, hence never the least.
  std::optional<std::string> text = read_text_file(directory.path + (v2 ? "/memory.max" : "/memory.limit_in_bytes"));
  return text ? parse_size(*text) : std::nullopt;
}

}  // namespace

int online_cpu_count() {
  long count = sysconf(_SC_NPROCESSORS_ONLN);
  return count < 1 ? 1 : static_cast<int>(count);
}

std::vector<int> affinity_cpus() {
  // The kernel refuses a mask smaller than its own with EINVAL and does not say how large that is.
  for (int capacity = 1024; capacity <= (1 << 16); capacity *= 2) {
    cpu_set_t* mask = CPU_ALLOC(static_cast<std::size_t>(capacity));
    if (mask == nullptr) return {};
    std::size_t mask_bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(capacity));
    CPU_ZERO_S(mask_bytes, mask);
    bool got = sched_getaffinity(0, mask_bytes, mask) == 0;
    bool too_small = !got && errno == EINVAL;
    std::vector<int> cpus;
    for (int cpu = 0; got && cpu < capacity; ++cpu) {
      if (CPU_ISSET_S(static_cast<std::size_t>(cpu), mask_bytes, mask)) cpus.push_back(cpu);
    }
    CPU_FREE(mask);
    if (!too_small) return cpus;
  }
  return {};
}

int usable_cpu_count() {
  int usable = online_cpu_count();
  int permitted = static_cast<int>(affinity_cpus().size());
  if (permitted > 0) usable = std::min(usable, permitted);
  for (const CgroupDirectory& directory : own_cgroup_directories("cpu")) {
    if (std::optional<int> quota = cpu_quota_of(directory)) usable = std::min(usable, *quota);
  }
  return std::max(usable, 1);
}

Bytes usable_memory() {
  struct sysinfo information{};
  if (sysinfo(&information) != 0) return Bytes(0);
  Bytes usable(std::uint64_t{information.totalram} * information.mem_unit);
  for (const CgroupDirectory& directory : own_cgroup_directories("memory")) {
    std::optional<Bytes> limit = memory_limit_of(directory);
    if (limit && limit->count() > 0) usable = std::min(usable, *limit);
  }
  return usable;
}

}  // namespace ingot
