// BootedMachineReport: what /proc and /sys tell of the machine, and what time it is for files.
#pragma once

#include <array>

#include "os/file/synthetic/reports.h"
#include "os/file/volume.h"

namespace ingot::os {

struct Kernel;

class BootedMachineReport final : public MachineReport, public TimeSource {
 public:
  explicit BootedMachineReport(Kernel& kernel) : kernel_(kernel) {}
  // What CPUID says, once.
  void start();

  std::uint32_t processors() override;
  ProcessorFacts processor() override;
  void write_processor_flags(TextWriter& text) override;
  std::optional<CacheFacts> cache(std::uint32_t index) override;
  MemoryFacts memory() override;
  Nanoseconds uptime() override;
  Nanoseconds started() override;
  std::string_view release() override { return "6.1.0-ingot"; }
  std::string_view host_name() override { return "ingot"; }
  void write_frame_report(TextWriter& text);

  Nanoseconds monotonic() override;
  Nanoseconds realtime() override;

 private:
  Kernel& kernel_;
  std::array<char, 12> vendor_{};
  std::array<char, 48> name_{};
};

}  // namespace ingot::os
