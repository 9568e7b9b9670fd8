// The files of /proc that are about the machine. Their forms are those that proc(5) describes; what a field would say
// of something that does not exist here is 0.
#include "os/file/synthetic/proc_directory.h"

namespace ingot::os {
namespace {

MachineReport& system_of(const TextSubject& subject) { return *static_cast<MachineReport*>(subject.object); }

// Hundredths of a second, as a fraction.
void write_seconds(TextWriter& text, Nanoseconds time) {
  const std::int64_t hundredths = time.count() / 10'000'000;
  text.add(hundredths / 100, ".", hundredths % 100 < 10 ? "0" : "", hundredths % 100);
}

void write_cpuinfo(TextWriter& text, const TextSubject& subject) {
  MachineReport& system = system_of(subject);
  const ProcessorFacts it = system.processor();
  const std::uint32_t count = system.processors();
  std::uint64_t last_cache = 0;
  for (std::uint32_t i = 0; const std::optional<CacheFacts> cache = system.cache(i); ++i) {
    if (cache->kind != CacheKind::instruction) last_cache = cache->bytes;
  }
  const std::uint64_t kilohertz = it.cycles_per_second / 1000;
  for (std::uint32_t cpu = 0; cpu < count; ++cpu) {
    text.add("processor\t: ", cpu, "\nvendor_id\t: ", it.vendor, "\ncpu family\t: ", it.family,
             "\nmodel\t\t: ", it.model);
    text.add("\nmodel name\t: ", it.name, "\nstepping\t: ", it.stepping, "\ncpu MHz\t\t: ", kilohertz / 1000, ".");
    text.add(kilohertz % 1000 / 100, kilohertz % 100 / 10, kilohertz % 10, "\ncache size\t: ", last_cache >> 10, " KB");
    text.add("\nphysical id\t: 0\nsiblings\t: ", count, "\ncore id\t\t: ", cpu, "\ncpu cores\t: ", count);
    text.add("\napicid\t\t: ", cpu, "\ninitial apicid\t: ", cpu,
             "\nfpu\t\t: yes\nfpu_exception\t: yes\ncpuid level\t: ");
    text.add(it.highest_leaf, "\nwp\t\t: yes\nflags\t\t:");
    system.write_processor_flags(text);
    const std::uint64_t bogomips = it.cycles_per_second / 5000;  // hundredths; Linux says twice the clock in MHz
    text.add("\nbugs\t\t:\nbogomips\t: ", bogomips / 100, ".", bogomips % 100 / 10, bogomips % 10);
    text.add("\nclflush size\t: ", it.cache_line_bytes, "\ncache_alignment\t: ", it.cache_line_bytes);
    text.add("\naddress sizes\t: ", it.physical_bits, " bits physical, ", it.virtual_bits, " bits virtual");
    text.add("\npower management:\n\n");
  }
}

void write_meminfo(TextWriter& text, const TextSubject& subject) {
  const MemoryFacts it = system_of(subject).memory();
  write_kibibytes(text, "MemTotal", it.total);
  write_kibibytes(text, "MemFree", it.free);
  write_kibibytes(text, "MemAvailable", it.available);
  write_kibibytes(text, "Buffers", 0);
  write_kibibytes(text, "Cached", it.cached);
  write_kibibytes(text, "SwapCached", 0);
  write_kibibytes(text, "SwapTotal", 0);
  write_kibibytes(text, "SwapFree", 0);
  write_kibibytes(text, "Shmem", it.shared);
  text.add("HugePages_Total:       0\nHugePages_Free:        0\nHugePages_Rsvd:        0\nHugePages_Surp:        0\n");
  write_kibibytes(text, "Hugepagesize", 2 << 20);
}

void write_stat(TextWriter& text, const TextSubject& subject) {
  MachineReport& system = system_of(subject);
  // Time by what it went for is not counted: programs that watch it see an idle machine.
  text.add("cpu  0 0 0 0 0 0 0 0 0 0\n");
  for (std::uint32_t cpu = 0; cpu < system.processors(); ++cpu) text.add("cpu", cpu, " 0 0 0 0 0 0 0 0 0 0\n");
  text.add("intr 0\nctxt 0\nbtime ", system.started().count() / 1'000'000'000, "\nprocesses 1\nprocs_running 1\n");
  text.add("procs_blocked 0\nsoftirq 0 0 0 0 0 0 0 0 0 0 0\n");
}

void write_uptime(TextWriter& text, const TextSubject& subject) {
  write_seconds(text, system_of(subject).uptime());
  text.add(" 0.00\n");
}

void write_load(TextWriter& text, const TextSubject&) { text.add("0.00 0.00 0.00 1/1 1\n"); }

void write_version(TextWriter& text, const TextSubject& subject) {
  text.add("Linux version ", system_of(subject).release(), " (ingot) #1 SMP\n");
}

void write_filesystems(TextWriter& text, const TextSubject&) {
  text.add("nodev\tsysfs\nnodev\ttmpfs\nnodev\tproc\nnodev\tdevtmpfs\nnodev\trootfs\n");
}

void write_release(TextWriter& text, const TextSubject& subject) { text.add(system_of(subject).release(), "\n"); }
void write_host_name(TextWriter& text, const TextSubject& subject) { text.add(system_of(subject).host_name(), "\n"); }

template <std::uint64_t number>
void write_constant(TextWriter& text, const TextSubject&) {
  text.add(number, "\n");
}

}  // namespace

void write_kibibytes(TextWriter& text, std::string_view name, std::uint64_t bytes) {
  text.add(name, ":");
  std::size_t column = name.size() + 1;
  for (std::uint64_t rest = bytes >> 10; rest >= 10; rest /= 10) ++column;
  for (; column < 23; ++column) text.add(" ");
  text.add(bytes >> 10, " kB\n");
}

Answer<void> add_proc_machine_files(MemoryDirectory& proc, MachineReport& system) {
  const TextSubject subject{&system, 0};
  constexpr TextFileRow top[] = {
      {"cpuinfo", write_cpuinfo},        {"meminfo", write_meminfo}, {"stat", write_stat},
      {"uptime", write_uptime},          {"loadavg", write_load},    {"version", write_version},
      {"filesystems", write_filesystems}};
  TRY(add_text_files(proc, top, subject));
  const Reference<MemoryDirectory> sys = TRY(add_directory(proc, "sys"));
  const Reference<MemoryDirectory> vm = TRY(add_directory(*sys, "vm"));
  // 2: what cannot be had is refused when it is asked for, not killed for when it is touched.
  constexpr TextFileRow vm_rows[] = {{"overcommit_memory", write_constant<2>},
                                     {"overcommit_ratio", write_constant<100>},
                                     {"max_map_count", write_constant<65530>},
                                     {"nr_hugepages", write_constant<0>}};
  TRY(add_text_files(*vm, vm_rows, subject));
  const Reference<MemoryDirectory> kernel = TRY(add_directory(*sys, "kernel"));
  constexpr TextFileRow kernel_rows[] = {{"osrelease", write_release},
                                         {"hostname", write_host_name},
                                         {"pid_max", write_constant<32768>},
                                         {"threads-max", write_constant<4096>},
                                         {"cap_last_cap", write_constant<40>},
                                         {"ostype", [](TextWriter& text, const TextSubject&) { text.add("Linux\n"); }}};
  return add_text_files(*kernel, kernel_rows, subject);
}

}  // namespace ingot::os
