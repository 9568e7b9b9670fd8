#include "machine/caches.h"

#include <algorithm>

#include "machine/cpuid.h"
#include "machine/parse.h"
#include "machine/system_files.h"

namespace ingot {
namespace {

std::optional<CacheKind> parse_cache_kind(std::string_view text) {
  if (text.starts_with("Data")) return CacheKind::data;
  if (text.starts_with("Instruction")) return CacheKind::instruction;
  if (text.starts_with("Unified")) return CacheKind::unified;
  return std::nullopt;
}

std::optional<Cache> read_cache(const std::string& folder) {
  auto read = [&](const char* name) { return read_text_file(folder + "/" + name).value_or(""); };
  std::optional<std::int64_t> level = parse_number(read("level"));
  std::optional<CacheKind> kind = parse_cache_kind(read("type"));
  std::optional<Bytes> size = parse_size(read("size"));
  if (!level || !kind || !size || *level < 1 || *level > 9) return std::nullopt;
  Cache cache{.level = static_cast<int>(*level), .kind = *kind, .size = *size};
  std::optional<std::int64_t> line = parse_number(read("coherency_line_size"));
  if (line && *line > 0 && *line <= 4096) cache.line_bytes = static_cast<int>(*line);
  std::optional<std::vector<int>> sharers = parse_cpu_list(read("shared_cpu_list"));
  if (sharers) cache.shared_by_cpus = static_cast<int>(sharers->size());
  return cache;
}

std::vector<Cache> caches_from_cpuid() {
  std::vector<Cache> caches;
#if defined(__x86_64__)
  for (std::uint32_t leaf : {0x4u, 0x8000001Du}) {
    constexpr std::uint32_t most_subleaves = 16;  // CPUID ends the list itself; an emulator might not
    for (std::uint32_t subleaf = 0; subleaf < most_subleaves; ++subleaf) {
      CpuidRegisters registers = cpuid(leaf, subleaf);
      Cache cache = cache_from_cpuid(registers.eax, registers.ebx, registers.ecx);
      if (cache.level == 0) break;
      caches.push_back(cache);
    }
    if (!caches.empty()) break;  // a CPU answers one of the two leaves
  }
#endif
  return caches;
}

}  // namespace

std::vector<Cache> caches_from_sysfs(const std::string& folder) {
  std::vector<Cache> caches;
  constexpr int most_indices = 16;
  for (int index = 0; index < most_indices; ++index) {
    std::optional<Cache> cache = read_cache(folder + "/index" + std::to_string(index));
    if (cache) caches.push_back(*cache);
  }
  return caches;
}

Cache cache_from_cpuid(std::uint32_t eax, std::uint32_t ebx, std::uint32_t ecx) {
  // Intel SDM volume 2A, CPUID leaf 04H: every count is stored less one.
  Cache none;
  auto field = [](std::uint32_t word, int low, int width) { return (word >> low) & ((1u << width) - 1); };
  std::uint32_t type = field(eax, 0, 5);
  if (type < 1 || type > 3) return none;
  constexpr CacheKind kinds[] = {CacheKind::data, CacheKind::instruction, CacheKind::unified};
  std::uint64_t line = field(ebx, 0, 12) + 1;
  std::uint64_t partitions = field(ebx, 12, 10) + 1;
  std::uint64_t ways = field(ebx, 22, 10) + 1;
  std::uint64_t sets = std::uint64_t{ecx} + 1;
  return {.level = static_cast<int>(field(eax, 5, 3)),
          .kind = kinds[type - 1],
          .size = Bytes(line * partitions * ways * sets),
          .line_bytes = static_cast<int>(line),
          .shared_by_cpus = static_cast<int>(field(eax, 14, 12) + 1)};
}

std::vector<Cache> detect_caches() {
  std::vector<Cache> caches = caches_from_sysfs("/sys/devices/system/cpu/cpu0/cache");
  if (caches.empty()) caches = caches_from_cpuid();
  std::sort(caches.begin(), caches.end(), [](const Cache& left, const Cache& right) {
    if (left.level != right.level) return left.level < right.level;
    return left.kind < right.kind;
  });
  return caches;
}

}  // namespace ingot
