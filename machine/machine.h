// The machine as a value: what the CPU is, what it can do, and how much of it this process may use.
#pragma once

#include <string>
#include <vector>

#include "base/units.h"
#include "machine/features.h"

namespace ingot {

enum class CacheKind : std::uint8_t { data, instruction, unified };

struct Cache {
  int level = 0;
  CacheKind kind = CacheKind::unified;
  Bytes size;
  int line_bytes = 64;
  int shared_by_cpus = 1;
};

struct Machine {
  Architecture architecture = built_architecture;
  std::string cpu_model;
  FeatureSet features;
  std::vector<Cache> caches;  // by level, data before instruction
  int online_cpus = 1;
  int usable_cpus = 1;  // online, within our affinity mask, and within the cgroup's CPU quota (rounded up)
  Bytes memory;

  static Machine detect();

  // Size of the largest data or unified cache at a level; zero where the machine does not say.
  Bytes cache_bytes(int level) const;
  Bytes last_level_cache() const;
};

}  // namespace ingot
