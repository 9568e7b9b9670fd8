// ElfFile: a 64-bit little-endian ELF file, as far as an image needs it. Every offset in it is checked before use.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ingot::image {

struct ElfSegment {
  enum Type : std::uint32_t { load = 1, dynamic = 2, interpreter = 3, note = 4 };
  enum Flags : std::uint32_t { execute = 1, write = 2, read = 4 };

  std::uint32_t type = 0;
  std::uint32_t flags = 0;
  std::uint64_t offset = 0;
  std::uint64_t virtual_address = 0;
  std::uint64_t physical_address = 0;
  std::uint64_t file_bytes = 0;
  std::uint64_t memory_bytes = 0;
  std::uint64_t alignment = 0;
};
inline constexpr std::size_t elf_header_bytes = 64, elf_segment_bytes = 56;
inline constexpr std::uint16_t elf_x86_64 = 62, elf_aarch64 = 183;

std::string machine_name(std::uint16_t machine);

class ElfFile {
 public:
  static bool looks_like(std::string_view bytes) { return bytes.starts_with("\177ELF"); }
  // Precondition: `bytes` outlives it.
  static Result<ElfFile> parse(std::string_view bytes);

  std::string_view bytes() const { return bytes_; }
  std::uint16_t machine() const { return machine_; }
  std::uint16_t type() const { return type_; }
  std::uint64_t entry() const { return entry_; }
  std::uint64_t segment_table() const { return table_; }
  const std::vector<ElfSegment>& segments() const { return segments_; }

  std::string_view content(const ElfSegment& segment) const {
    return bytes_.substr(segment.offset, segment.file_bytes);
  }
  // The program that loads this one; nothing for a static program.
  Result<std::optional<std::string>> interpreter() const;
  struct Libraries {
    std::vector<std::string> needed;           // DT_NEEDED
    std::vector<std::string> run_path, rpath;  // DT_RUNPATH, DT_RPATH; $ORIGIN not yet replaced
  };
  Result<Libraries> libraries() const;
  // The names that it takes from its libraries.
  Result<std::vector<std::string>> imports() const;

 private:
  struct Dynamic;
  Dynamic dynamic() const;
  // The file's bytes behind a virtual address, to the end of their segment.
  Result<std::string_view> at_virtual(std::uint64_t address) const;

  std::string_view bytes_;
  std::uint16_t machine_ = 0, type_ = 0;
  std::uint64_t entry_ = 0, table_ = 0;
  std::vector<ElfSegment> segments_;
};

}  // namespace ingot::image
