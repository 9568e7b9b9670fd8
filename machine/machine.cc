#include "machine/machine.h"

#include <algorithm>
#include <cstring>

#include "machine/caches.h"
#include "machine/cpuid.h"
#include "machine/feature_detection.h"
#include "machine/limits.h"
#include "machine/parse.h"
#include "machine/system_files.h"

#if defined(__aarch64__)
#include <sys/auxv.h>
#endif

namespace ingot {
namespace {

#if defined(__x86_64__)
// Intel SDM volume 2A, leaves 80000002H to 80000004H: 48 characters, ended by zero and padded in front on old CPUs.
std::string cpu_name_from_instruction() {
  if (cpuid(0x80000000u).eax < 0x80000004u) return "x86_64 processor";
  char brand[49] = {};
  for (std::uint32_t part = 0; part < 3; ++part) {
    CpuidRegisters registers = cpuid(0x80000002u + part);
    std::memcpy(brand + 16 * part, &registers, 16);
  }
  std::string name = brand;
  name.erase(0, name.find_first_not_of(' '));
  name.erase(name.find_last_not_of(' ') + 1);
  return name.empty() ? "x86_64 processor" : name;
}
#else
// MIDR_EL1 (Arm ARM D17.2.101) is readable from user space where the kernel emulates it, which HWCAP_CPUID announces.
std::string cpu_name_from_instruction() {
  constexpr unsigned long hwcap_cpuid = 1ul << 11;
  if ((getauxval(AT_HWCAP) & hwcap_cpuid) == 0) return "aarch64 processor";
  std::uint64_t midr = 0;
  __asm__("mrs %0, midr_el1" : "=r"(midr));
  return aarch64_cpu_name(static_cast<std::uint32_t>(midr >> 24) & 0xff, static_cast<std::uint32_t>(midr >> 4) & 0xfff);
}
#endif

std::string detect_cpu_name() {
  std::optional<std::string> cpuinfo = read_text_file("/proc/cpuinfo");
  std::optional<std::string> name = cpuinfo ? cpu_name_from(*cpuinfo) : std::nullopt;
  // On aarch64 a "model name" alone is not the core's: under user-mode emulation it is the host's.
  bool trusted = name && (built_architecture == Architecture::x86_64 || find_field(*cpuinfo, "CPU part"));
  return trusted ? *name : cpu_name_from_instruction();
}

}  // namespace

Machine Machine::detect() {
  Machine machine;
  machine.cpu_model = detect_cpu_name();
  machine.features = detect_features();
  machine.caches = detect_caches();
  machine.online_cpus = online_cpu_count();
  machine.usable_cpus = usable_cpu_count();
  machine.memory = usable_memory();
  return machine;
}

Bytes Machine::cache_bytes(int level) const {
  Bytes largest(0);
  for (const Cache& cache : caches) {
    if (cache.level == level && cache.kind != CacheKind::instruction) largest = std::max(largest, cache.size);
  }
  return largest;
}

Bytes Machine::last_level_cache() const {
  int last = 0;
  for (const Cache& cache : caches) {
    if (cache.kind != CacheKind::instruction) last = std::max(last, cache.level);
  }
  return cache_bytes(last);
}

}  // namespace ingot
