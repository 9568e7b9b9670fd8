#include "os/process/booted_machine_report.h"

#include "os/boot/kernel.h"

namespace ingot::os {

namespace {

// Linux's names for the bits of CPUID that programs look for in /proc/cpuinfo.
struct Flag {
  std::string_view name;
  std::uint32_t leaf;
  char output;  // a, b, c or d
  std::uint8_t bit;
};

constexpr Flag flags[] = {
    {"fpu", 1, 'd', 0},
    {"tsc", 1, 'd', 4},
    {"msr", 1, 'd', 5},
    {"cx8", 1, 'd', 8},
    {"cmov", 1, 'd', 15},
    {"clflush", 1, 'd', 19},
    {"mmx", 1, 'd', 23},
    {"fxsr", 1, 'd', 24},
    {"sse", 1, 'd', 25},
    {"sse2", 1, 'd', 26},
    {"ht", 1, 'd', 28},
    {"pni", 1, 'c', 0},
    {"pclmulqdq", 1, 'c', 1},
    {"ssse3", 1, 'c', 9},
    {"fma", 1, 'c', 12},
    {"cx16", 1, 'c', 13},
    {"sse4_1", 1, 'c', 19},
    {"sse4_2", 1, 'c', 20},
    {"movbe", 1, 'c', 22},
    {"popcnt", 1, 'c', 23},
    {"aes", 1, 'c', 25},
    {"xsave", 1, 'c', 26},
    {"avx", 1, 'c', 28},
    {"f16c", 1, 'c', 29},
    {"rdrand", 1, 'c', 30},
    {"hypervisor", 1, 'c', 31},
    {"bmi1", 7, 'b', 3},
    {"avx2", 7, 'b', 5},
    {"bmi2", 7, 'b', 8},
    {"erms", 7, 'b', 9},
    {"avx512f", 7, 'b', 16},
    {"avx512dq", 7, 'b', 17},
    {"rdseed", 7, 'b', 18},
    {"adx", 7, 'b', 19},
    {"avx512cd", 7, 'b', 28},
    {"sha_ni", 7, 'b', 29},
    {"avx512bw", 7, 'b', 30},
    {"avx512vl", 7, 'b', 31},
    {"avx512_vbmi", 7, 'c', 1},
    {"avx512_vnni", 7, 'c', 11},
    {"amx_bf16", 7, 'd', 22},
    {"avx512_fp16", 7, 'd', 23},
    {"amx_tile", 7, 'd', 24},
    {"amx_int8", 7, 'd', 25},
    {"syscall", 0x80000001, 'd', 11},
    {"nx", 0x80000001, 'd', 20},
    {"pdpe1gb", 0x80000001, 'd', 26},
    {"rdtscp", 0x80000001, 'd', 27},
    {"lm", 0x80000001, 'd', 29},
    {"lahf_lm", 0x80000001, 'c', 0},
};

std::uint32_t output_of(const arch::CpuidResult& result, char output) {
  return output == 'a' ? result.eax : output == 'b' ? result.ebx : output == 'c' ? result.ecx : result.edx;
}

FrameStatistics frame_statistics(Kernel& kernel) {
  return kernel.memory->cached_frames().shared().with([](FrameAllocator& frames) { return frames.statistics(); });
}

}  // namespace

void BootedMachineReport::start() {
  const arch::CpuidResult first = arch::cpuid(0);
  const std::uint32_t vendor[] = {first.ebx, first.edx, first.ecx};
  __builtin_memcpy(vendor_.data(), vendor, sizeof vendor);
  if (arch::cpuid(0x80000000).eax < 0x80000004) return;
  for (std::uint32_t part = 0; part < 3; ++part) {
    const arch::CpuidResult letters = arch::cpuid(0x80000002 + part);
    __builtin_memcpy(name_.data() + part * 16, &letters, 16);
  }
}

std::uint32_t BootedMachineReport::processors() { return kernel_.scheduler.processor_count(); }

ProcessorFacts BootedMachineReport::processor() {
  const std::uint32_t signature = arch::cpuid(1).eax;
  ProcessorFacts facts;
  facts.vendor = {vendor_.data(), vendor_.size()};
  facts.name = std::string_view(name_.data(), name_.size());
  facts.name = facts.name.substr(0, facts.name.find('\0'));
  facts.family = signature >> 8 & 0xf;
  if (facts.family == 0xf) facts.family += signature >> 20 & 0xff;
  facts.model = (signature >> 4 & 0xf) | (signature >> 12 & 0xf0);
  facts.stepping = signature & 0xf;
  facts.cycles_per_second = kernel_.clock->rate().cycles_per_second();
  const std::uint32_t widths = arch::cpuid(0x80000008).eax;
  facts.physical_bits = widths & 0xff;
  facts.virtual_bits = widths >> 8 & 0xff;
  facts.highest_leaf = arch::cpuid(0).eax;
  return facts;
}

void BootedMachineReport::write_processor_flags(TextWriter& text) {
  for (const Flag& flag : flags) {
    const std::uint32_t highest = arch::cpuid(flag.leaf & 0x80000000).eax;
    if (flag.leaf > highest || (output_of(arch::cpuid(flag.leaf), flag.output) >> flag.bit & 1) == 0) continue;
    text.add(' ', flag.name);
  }
}

// Leaf 4 of CPUID: the caches as the CPU lists them (SDM volume 2, CPUID).
std::optional<CacheFacts> BootedMachineReport::cache(std::uint32_t index) {
  constexpr std::uint32_t cache_leaf = 4, data = 1, instruction = 2;
  if (arch::cpuid(0).eax < cache_leaf) return {};
  const arch::CpuidResult told = arch::cpuid(cache_leaf, index);
  const std::uint32_t kind = told.eax & 0x1f;
  if (kind == 0) return {};
  CacheFacts facts;
  facts.level = told.eax >> 5 & 7;
  facts.kind = kind == data ? CacheKind::data : kind == instruction ? CacheKind::instruction : CacheKind::unified;
  facts.line_bytes = (told.ebx & 0xfff) + 1;
  facts.ways = (told.ebx >> 22) + 1;
  facts.sets = told.ecx + 1;
  const std::uint32_t partitions = (told.ebx >> 12 & 0x3ff) + 1;
  facts.bytes = std::uint64_t{facts.line_bytes} * facts.ways * facts.sets * partitions;
  return facts;
}

MemoryFacts BootedMachineReport::memory() {
  const FrameStatistics frames = frame_statistics(kernel_);
  MemoryFacts facts;
  facts.total = frames.total * page_bytes;
  facts.free = facts.available = frames.free * page_bytes;
  return facts;
}

Nanoseconds BootedMachineReport::uptime() { return kernel_.now(); }
Nanoseconds BootedMachineReport::started() { return kernel_.wall_time() - kernel_.now(); }
Nanoseconds BootedMachineReport::monotonic() { return kernel_.now(); }
Nanoseconds BootedMachineReport::realtime() { return kernel_.wall_time(); }

void BootedMachineReport::write_frame_report(TextWriter& text) {
  const FrameStatistics frames = frame_statistics(kernel_);
  text.add("frames-total ", frames.total, "\nframes-free ", frames.free, "\nframe-allocations ", frames.allocations,
           "\nframe-failures ", frames.failures, "\nframes-given-back ", frames.adopted, "\n");
}

}  // namespace ingot::os
