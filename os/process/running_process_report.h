// RunningProcessReport: what /proc/self tells.
#pragma once

#include <array>
#include <span>

#include "base/image/image_manifest.h"
#include "base/text.h"
#include "os/file/synthetic/reports.h"
#include "os/process/initial_stack.h"

namespace ingot::os {

class Process;
struct RegionFields;

class RunningProcessReport final : public ProcessReport {
 public:
  // The manifest's text lies in the image, and `command_line` in the kernel: both outlive the process.
  RunningProcessReport(Process& process, const Manifest& manifest, std::string_view command_line)
      : process_(process), manifest_(manifest), command_line_(command_line) {}

  Result<void> set_executable(EscapedText path);
  void set_stack(VirtualAddress begin) { stack_begin_ = begin; }
  void set_auxiliary_vector(std::span<const InitialStack::Fact> facts);

  std::uint32_t identity() override;
  std::string_view name() override;
  std::string_view executable() override { return executable_.view(); }
  std::uint32_t threads() override;
  ProcessMemory memory() override;
  std::uint64_t signals_caught() override;
  std::uint64_t signals_ignored() override;
  void write_arguments(TextWriter& text) override;
  void write_environment(TextWriter& text) override;
  void write_mappings(TextWriter& text) override;
  void write_auxiliary_vector(TextWriter& text) override;
  void write_limits(TextWriter& text) override;
  void write_memory_report(TextWriter& text) override;
  DescriptorTable& descriptors() override;
  Reference<Directory> working_directory() override;

 private:
  void write_mapping(TextWriter& text, const RegionFields& region);

  Process& process_;
  Manifest manifest_;
  std::string_view command_line_;
  FixedText<256> executable_;
  VirtualAddress stack_begin_;
  std::array<InitialStack::Fact, InitialStack::most_facts + 1> auxiliary_{};  // ends with a key 0
  std::size_t auxiliary_count_ = 1;
};

}  // namespace ingot::os
