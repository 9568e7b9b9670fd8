// /proc: the machine in Linux's words, and the process itself as "self" and as its number.
#pragma once

#include "os/file/file_tree.h"
#include "os/file/synthetic/reports.h"
#include "os/file/synthetic/text_file.h"

namespace ingot::os {

// All of them outlive the directory.
struct ProcSubjects {
  MachineReport& system;
  ProcessReport& process;
  FileTree& tree;
};

Answer<void> add_proc_files(MemoryDirectory& proc, const ProcSubjects& subjects);

// The parts, one file each.
Answer<void> add_proc_machine_files(MemoryDirectory& proc, MachineReport& system);
Answer<void> add_proc_process_files(MemoryDirectory& directory, ProcessReport& process);
// What only this kernel tells: /proc/ingot.
Answer<void> add_proc_ingot_files(MemoryDirectory& directory, ProcessReport& process);
Answer<Reference<Node>> make_descriptor_directory(Reference<Volume> volume, DescriptorTable& table, FileTree& tree);

// "Tmp", then its value in Linux's columns, "Tmp:            123 kB".
void write_kibibytes(TextWriter& text, std::string_view name, std::uint64_t bytes);

}  // namespace ingot::os
