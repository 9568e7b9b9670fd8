// What /proc and /sys tell, asked when a file is opened. The kernel answers; a test invents.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/units.h"
#include "os/file/descriptor_table.h"
#include "os/file/synthetic/text_writer.h"

namespace ingot::os {

class Directory;

// As CPUID tells it; all CPUs of a machine are alike.
struct ProcessorFacts {
  std::string_view vendor = "unknown", name = "unknown";
  std::uint32_t family = 0, model = 0, stepping = 0;
  std::uint64_t cycles_per_second = 0;
  std::uint32_t cache_line_bytes = 64;
  std::uint32_t physical_bits = 0, virtual_bits = 0;
  std::uint32_t highest_leaf = 0;
};

enum class CacheKind : std::uint8_t { data, instruction, unified };

struct CacheFacts {
  std::uint32_t level = 0;
  CacheKind kind = CacheKind::unified;
  std::uint64_t bytes = 0;
  std::uint32_t line_bytes = 0, ways = 0, sets = 0;
  std::uint32_t shared_by = 1;  // CPUs with following numbers
};

struct MemoryFacts {
  std::uint64_t total = 0, free = 0, available = 0, cached = 0, shared = 0;  // bytes
};

class MachineReport {
 public:
  virtual std::uint32_t processors() = 0;
  virtual ProcessorFacts processor() = 0;
  // " fpu vme ...": Linux's names, each after a blank.
  virtual void write_processor_flags(TextWriter& text) = 0;
  virtual std::optional<CacheFacts> cache(std::uint32_t index) = 0;
  virtual MemoryFacts memory() = 0;
  virtual Nanoseconds uptime() = 0;
  virtual Nanoseconds started() = 0;       // since 1970
  virtual std::string_view release() = 0;  // as uname says
  virtual std::string_view host_name() = 0;

 protected:
  ~MachineReport() = default;
};

struct ProcessMemory {
  std::uint64_t virtual_bytes = 0, peak_virtual_bytes = 0, resident_bytes = 0, peak_resident_bytes = 0;
  std::uint64_t locked_bytes = 0, data_bytes = 0, stack_bytes = 0, text_bytes = 0;
};

class ProcessReport {
 public:
  virtual std::uint32_t identity() = 0;
  virtual std::string_view name() = 0;        // the last part of the program's path, at most 15 letters
  virtual std::string_view executable() = 0;  // its path
  virtual std::uint32_t threads() = 0;
  virtual ProcessMemory memory() = 0;
  virtual std::uint64_t signals_caught() = 0;
  virtual std::uint64_t signals_ignored() = 0;
  virtual void write_arguments(TextWriter& text) = 0;    // each ended by a 0
  virtual void write_environment(TextWriter& text) = 0;  // likewise
  virtual void write_mappings(TextWriter& text) = 0;     // as /proc/self/maps
  virtual void write_auxiliary_vector(TextWriter& text) = 0;
  virtual void write_limits(TextWriter& text) = 0;
  // /proc/ingot/memory: what the program's memory is made of.
  virtual void write_memory_report(TextWriter& text) = 0;
  virtual DescriptorTable& descriptors() = 0;
  virtual Reference<Directory> working_directory() = 0;

 protected:
  ~ProcessReport() = default;
};

}  // namespace ingot::os
