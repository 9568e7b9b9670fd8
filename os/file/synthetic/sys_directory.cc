#include "os/file/synthetic/sys_directory.h"

#include <algorithm>

namespace ingot::os {
namespace {

MachineReport& machine_of(const TextSubject& subject) { return *static_cast<MachineReport*>(subject.object); }

// The numbers first..last as a list, "0-3", or as bits in hexadecimal words of 32, the highest first.
void write_list(TextWriter& text, std::uint32_t first, std::uint32_t last) {
  text.add(first);
  if (last > first) text.add("-", last);
  text.add("\n");
}
void write_bits(TextWriter& text, std::uint32_t first, std::uint32_t last, std::uint32_t count) {
  const std::uint32_t words = (count + 31) / 32;
  for (std::uint32_t word = words; word-- > 0;) {
    std::uint32_t bits = 0;
    for (std::uint32_t bit = 0; bit < 32; ++bit) {
      const std::uint32_t number = word * 32 + bit;
      if (number >= first && number <= last) bits |= 1u << bit;
    }
    text.add(HexadecimalDigits{bits, words == 1 ? static_cast<int>((count + 3) / 4) : 8}, word == 0 ? "\n" : ",");
  }
}

void write_all_list(TextWriter& text, const TextSubject& subject) {
  write_list(text, 0, machine_of(subject).processors() - 1);
}
void write_all_bits(TextWriter& text, const TextSubject& subject) {
  const std::uint32_t count = machine_of(subject).processors();
  write_bits(text, 0, count - 1, count);
}
void write_own_number(TextWriter& text, const TextSubject& subject) { text.add(subject.number, "\n"); }
void write_own_list(TextWriter& text, const TextSubject& subject) { write_list(text, subject.number, subject.number); }
void write_own_bits(TextWriter& text, const TextSubject& subject) {
  write_bits(text, subject.number, subject.number, machine_of(subject).processors());
}
void write_only_zero(TextWriter& text, const TextSubject&) { text.add("0\n"); }
void write_empty(TextWriter& text, const TextSubject&) { text.add("\n"); }
void write_last_number(TextWriter& text, const TextSubject& subject) {
  text.add(machine_of(subject).processors() - 1, "\n");
}

// A cache's files carry its CPU and its index in one number.
constexpr std::uint32_t cache_number(std::uint32_t cpu, std::uint32_t index) { return cpu << 8 | index; }
CacheFacts cache_of(const TextSubject& subject) {
  return machine_of(subject).cache(subject.number & 0xff).value_or(CacheFacts{});
}
struct Sharers {
  std::uint32_t first, last;
};
Sharers sharers_of(const TextSubject& subject) {
  const std::uint32_t cpu = subject.number >> 8, count = machine_of(subject).processors();
  const std::uint32_t together = std::clamp(cache_of(subject).shared_by, 1u, count);
  const std::uint32_t first = cpu / together * together;
  return {first, std::min(first + together, count) - 1};
}
void write_cache_kind(TextWriter& text, const TextSubject& subject) {
  constexpr std::string_view names[] = {"Data\n", "Instruction\n", "Unified\n"};
  text.add(names[static_cast<std::size_t>(cache_of(subject).kind)]);
}
constexpr TextFileRow cache_rows[] = {
    {"level", [](TextWriter& text, const TextSubject& it) { text.add(cache_of(it).level, "\n"); }},
    {"type", write_cache_kind},
    {"size", [](TextWriter& text, const TextSubject& it) { text.add(cache_of(it).bytes >> 10, "K\n"); }},
    {"coherency_line_size", [](TextWriter& text, const TextSubject& it) { text.add(cache_of(it).line_bytes, "\n"); }},
    {"ways_of_associativity", [](TextWriter& text, const TextSubject& it) { text.add(cache_of(it).ways, "\n"); }},
    {"number_of_sets", [](TextWriter& text, const TextSubject& it) { text.add(cache_of(it).sets, "\n"); }},
    {"physical_line_partition", [](TextWriter& text, const TextSubject&) { text.add("1\n"); }},
    {"id", [](TextWriter& text, const TextSubject& it) { text.add(sharers_of(it).first, "\n"); }},
    {"shared_cpu_list",
     [](TextWriter& text, const TextSubject& it) { write_list(text, sharers_of(it).first, sharers_of(it).last); }},
    {"shared_cpu_map",
     [](TextWriter& text, const TextSubject& it) {
       write_bits(text, sharers_of(it).first, sharers_of(it).last, machine_of(it).processors());
     }},
};

// Every CPU is a core of its own in one package: that is how the machines are that the kernel runs on.
constexpr TextFileRow topology_rows[] = {
    {"core_id", write_own_number},       {"physical_package_id", write_only_zero},
    {"die_id", write_only_zero},         {"cluster_id", write_only_zero},
    {"thread_siblings", write_own_bits}, {"thread_siblings_list", write_own_list},
    {"core_cpus", write_own_bits},       {"core_cpus_list", write_own_list},
    {"core_siblings", write_all_bits},   {"core_siblings_list", write_all_list},
    {"package_cpus", write_all_bits},    {"package_cpus_list", write_all_list},
};

Answer<void> add_processor(MemoryDirectory& cpus, MachineReport& system, std::uint32_t cpu) {
  const Reference<MemoryDirectory> own = TRY(add_directory(cpus, text_of<16>("cpu", cpu).view(), NameStorage::copied));
  const Reference<MemoryDirectory> topology = TRY(add_directory(*own, "topology"));
  TRY(add_text_files(*topology, topology_rows, {&system, cpu}));
  const Reference<MemoryDirectory> caches = TRY(add_directory(*own, "cache"));
  for (std::uint32_t index = 0; index < 16 && system.cache(index); ++index) {
    const Reference<MemoryDirectory> cache =
        TRY(add_directory(*caches, text_of<16>("index", index).view(), NameStorage::copied));
    TRY(add_text_files(*cache, cache_rows, {&system, cache_number(cpu, index)}));
  }
  return {};
}

void write_node_memory(TextWriter& text, const TextSubject& subject) {
  const MemoryFacts memory = machine_of(subject).memory();
  text.add("Node 0 MemTotal:       ", memory.total >> 10, " kB\nNode 0 MemFree:        ", memory.free >> 10, " kB\n");
}

}  // namespace

Answer<void> add_sys_files(MemoryDirectory& sys, MachineReport& system) {
  const TextSubject subject{&system, 0};
  const Reference<MemoryDirectory> devices = TRY(add_directory(sys, "devices"));
  const Reference<MemoryDirectory> machine = TRY(add_directory(*devices, "system"));
  const Reference<MemoryDirectory> cpus = TRY(add_directory(*machine, "cpu"));
  constexpr TextFileRow cpu_rows[] = {{"online", write_all_list},  {"possible", write_all_list},
                                      {"present", write_all_list}, {"offline", write_empty},
                                      {"isolated", write_empty},   {"kernel_max", write_last_number}};
  TRY(add_text_files(*cpus, cpu_rows, subject));
  for (std::uint32_t cpu = 0; cpu < system.processors(); ++cpu) TRY(add_processor(*cpus, system, cpu));

  const Reference<MemoryDirectory> nodes = TRY(add_directory(*machine, "node"));
  constexpr TextFileRow node_rows[] = {
      {"online", write_only_zero}, {"possible", write_only_zero}, {"has_cpu", write_only_zero}};
  TRY(add_text_files(*nodes, node_rows, subject));
  const Reference<MemoryDirectory> node = TRY(add_directory(*nodes, "node0"));
  constexpr TextFileRow node0_rows[] = {
      {"cpulist", write_all_list}, {"cpumap", write_all_bits}, {"meminfo", write_node_memory}};
  TRY(add_text_files(*node, node0_rows, subject));

  const Reference<MemoryDirectory> kernel = TRY(add_directory(sys, "kernel"));
  const Reference<MemoryDirectory> memory = TRY(add_directory(*kernel, "mm"));
  const Reference<MemoryDirectory> huge = TRY(add_directory(*memory, "transparent_hugepage"));
  // Anonymous memory comes in large pages wherever a whole one is asked for.
  constexpr TextFileRow huge_rows[] = {
      {"enabled", [](TextWriter& text, const TextSubject&) { text.add("[always] madvise never\n"); }},
      {"defrag",
       [](TextWriter& text, const TextSubject&) { text.add("always defer defer+madvise madvise [never]\n"); }},
      {"hpage_pmd_size", [](TextWriter& text, const TextSubject&) { text.add(2 << 20, "\n"); }}};
  return add_text_files(*huge, huge_rows, subject);
}

}  // namespace ingot::os
