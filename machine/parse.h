// The system's small text formats (sysfs, procfs, cgroup files) as pure functions: text in, value out.
// An empty answer means "the text does not say"; a caller then falls back and never guesses.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"

namespace ingot {

// Cuts the text up to the separator off the front of `rest` and returns it; all of it when there is none.
std::string_view take_until(std::string_view& rest, char separator);

// A whole decimal number, surrounding blanks allowed, nothing else.
std::optional<std::int64_t> parse_number(std::string_view text);

// "48K", "2M", "307200K", "512": sysfs cache sizes.
std::optional<Bytes> parse_size(std::string_view text);

// "0-3,8,10-11": sysfs CPU lists, in order.
std::optional<std::vector<int>> parse_cpu_list(std::string_view text);

// The first value of "key : value" in /proc/cpuinfo or /proc/meminfo text.
std::optional<std::string> find_field(std::string_view text, std::string_view key);

// The same where the value is "120 kB", as in /proc/meminfo and /proc/self/status.
std::optional<Bytes> find_kibibytes(std::string_view text, std::string_view key);

// /proc/loadavg, "0.37 1.20 ...": the average of the last minute.
std::optional<double> parse_load(std::string_view text);

// cgroup v2 cpu.max, "150000 100000" or "max 100000": whole CPUs, rounded up, at least 1; empty when unlimited.
std::optional<int> parse_cpu_max(std::string_view text);

// cgroup v1 cpu.cfs_quota_us and cpu.cfs_period_us, the same way; a quota of -1 is unlimited.
std::optional<int> parse_cpu_quota(std::string_view quota, std::string_view period);

enum class CgroupVersion : std::uint8_t { v1, v2 };

struct CgroupDirectory {
  CgroupVersion version = CgroupVersion::v2;
  std::string path;
  bool operator==(const CgroupDirectory&) const = default;
};

// The directories whose limits bind this process for a controller ("cpu", "memory"): its own cgroup and every parent
// up to the mount, for each hierarchy that may carry the controller. From /proc/self/cgroup and /proc/self/mountinfo.
std::vector<CgroupDirectory> cgroup_directories(std::string_view cgroups, std::string_view mounts,
                                                std::string_view controller);

// A name for an Arm core from MIDR_EL1's implementer and part number, e.g. (0x41, 0xd40) "Arm Neoverse V1".
std::string aarch64_cpu_name(std::uint32_t implementer, std::uint32_t part);

// The CPU's name from /proc/cpuinfo text: "model name", or implementer and part on aarch64.
std::optional<std::string> cpu_name_from(std::string_view cpuinfo);

}  // namespace ingot
