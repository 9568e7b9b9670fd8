// The files of /proc/self.
#include "os/file/synthetic/proc_directory.h"

namespace ingot::os {
namespace {

ProcessReport& process_of(const TextSubject& subject) { return *static_cast<ProcessReport*>(subject.object); }

void write_status(TextWriter& text, const TextSubject& subject) {
  ProcessReport& process = process_of(subject);
  const ProcessMemory memory = process.memory();
  const std::uint32_t identity = process.identity();
  text.add("Name:\t", process.name(), "\nUmask:\t0022\nState:\tR (running)\nTgid:\t", identity, "\nNgid:\t0\nPid:\t");
  text.add(identity, "\nPPid:\t0\nTracerPid:\t0\nUid:\t0\t0\t0\t0\nGid:\t0\t0\t0\t0\nFDSize:\t");
  text.add(process.descriptors().limit(), "\nGroups:\t0\n");
  write_kibibytes(text, "VmPeak", memory.peak_virtual_bytes);
  write_kibibytes(text, "VmSize", memory.virtual_bytes);
  write_kibibytes(text, "VmLck", memory.locked_bytes);
  write_kibibytes(text, "VmPin", 0);
  write_kibibytes(text, "VmHWM", memory.peak_resident_bytes);
  write_kibibytes(text, "VmRSS", memory.resident_bytes);
  write_kibibytes(text, "VmData", memory.data_bytes);
  write_kibibytes(text, "VmStk", memory.stack_bytes);
  write_kibibytes(text, "VmExe", memory.text_bytes);
  write_kibibytes(text, "VmSwap", 0);
  text.add("Threads:\t", process.threads(), "\nSigIgn:\t", HexadecimalDigits{process.signals_ignored(), 16});
  text.add("\nSigCgt:\t", HexadecimalDigits{process.signals_caught(), 16}, "\nNoNewPrivs:\t0\nSeccomp:\t0\n");
}

void write_process_stat(TextWriter& text, const TextSubject& subject) {
  ProcessReport& process = process_of(subject);
  const ProcessMemory memory = process.memory();
  const std::uint32_t identity = process.identity();
  // The 52 fields of proc(5); 20 is the number of threads, 23 and 24 the memory.
  text.add(identity, " (", process.name(), ") R 0 ", identity, " ", identity, " 0 -1 0 0 0 0 0 0 0 0 0 20 0 ");
  text.add(process.threads(), " 0 0 ", memory.virtual_bytes, " ", memory.resident_bytes >> 12);
  text.add(" 18446744073709551615 0 0 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n");
}

void write_statm(TextWriter& text, const TextSubject& subject) {
  const ProcessMemory memory = process_of(subject).memory();
  text.add(memory.virtual_bytes >> 12, " ", memory.resident_bytes >> 12, " 0 ", memory.text_bytes >> 12, " 0 ");
  text.add((memory.data_bytes + memory.stack_bytes) >> 12, " 0\n");
}

void write_name(TextWriter& text, const TextSubject& subject) { text.add(process_of(subject).name(), "\n"); }
void write_arguments(TextWriter& text, const TextSubject& subject) { process_of(subject).write_arguments(text); }
void write_environment(TextWriter& text, const TextSubject& subject) { process_of(subject).write_environment(text); }
void write_mappings(TextWriter& text, const TextSubject& subject) { process_of(subject).write_mappings(text); }
void write_auxiliary(TextWriter& text, const TextSubject& subject) { process_of(subject).write_auxiliary_vector(text); }
void write_limits(TextWriter& text, const TextSubject& subject) { process_of(subject).write_limits(text); }
void write_report(TextWriter& text, const TextSubject& subject) { process_of(subject).write_memory_report(text); }
void write_control_groups(TextWriter& text, const TextSubject&) { text.add("0::/\n"); }
void write_zero(TextWriter& text, const TextSubject&) { text.add("0\n"); }

void write_mounts(TextWriter& text, const TextSubject&) {
  text.add("rootfs / rootfs ro 0 0\nproc /proc proc ro 0 0\nsysfs /sys sysfs ro 0 0\ndevtmpfs /dev devtmpfs rw 0 0\n");
  text.add("tmpfs /tmp tmpfs rw 0 0\n");
}

void write_mount_information(TextWriter& text, const TextSubject&) {
  text.add(
      "1 1 0:1 / / ro - rootfs rootfs ro\n2 1 0:2 / /proc ro - proc proc ro\n3 1 0:3 / /sys ro - sysfs sysfs ro\n");
  text.add("4 1 0:4 / /dev rw - devtmpfs devtmpfs rw\n5 1 0:5 / /tmp rw - tmpfs tmpfs rw\n");
}

}  // namespace

Answer<void> add_proc_process_files(MemoryDirectory& directory, ProcessReport& process) {
  constexpr TextFileRow rows[] = {{"status", write_status},     {"stat", write_process_stat},
                                  {"statm", write_statm},       {"comm", write_name},
                                  {"cmdline", write_arguments}, {"environ", write_environment},
                                  {"maps", write_mappings},     {"auxv", write_auxiliary},
                                  {"limits", write_limits},     {"cgroup", write_control_groups},
                                  {"mounts", write_mounts},     {"mountinfo", write_mount_information},
                                  {"oom_score_adj", write_zero}};
  return add_text_files(directory, rows, {&process, 0});
}

Answer<void> add_proc_ingot_files(MemoryDirectory& directory, ProcessReport& process) {
  constexpr TextFileRow rows[] = {{"memory", write_report}};
  return add_text_files(directory, rows, {&process, 0});
}

}  // namespace ingot::os
