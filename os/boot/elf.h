// ELF64 files (System V ABI, chapters 4 and 5): what a loader needs of a kernel or of a program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.h"

namespace ingot::os {

enum class ElfMachine : std::uint16_t { x86_64 = 62, aarch64 = 183 };
enum class ElfType : std::uint16_t { executable = 2, shared = 3 };  // at its own addresses, or at any

// A program header, as in the file.
struct ElfSegment {
  enum Kind : std::uint32_t { loadable = 1, dynamic = 2, interpreter = 3, note = 4, thread_local_storage = 7 };
  enum Flags : std::uint32_t { execute = 1, write = 2, read = 4 };

  std::uint32_t kind, flags;
  std::uint64_t offset;  // in the file
  std::uint64_t address, physical_address;
  std::uint64_t file_bytes, memory_bytes;  // what lies between them is zero
  std::uint64_t alignment;
};
static_assert(sizeof(ElfSegment) == 56);

// A view of a file in memory. All its offsets and counts have been checked: segments lie within the file, their
// addresses do not wrap, and those that are loadable ascend without overlapping.
class ElfFile {
 public:
  static Result<ElfFile> create(std::span<const std::byte> file, ElfMachine machine);

  ElfType type() const { return type_; }
  std::uint64_t entry() const { return entry_; }
  std::size_t segment_count() const { return segment_count_; }
  std::uint64_t segments_offset() const { return segments_; }  // of the first in the file
  // Precondition: index < segment_count().
  ElfSegment segment(std::size_t index) const;
  // Precondition: a segment of this file.
  std::span<const std::byte> bytes_of(const ElfSegment& segment) const {
    return file_.subspan(segment.offset, segment.file_bytes);
  }

 private:
  Result<void> check_segments() const;

  std::span<const std::byte> file_;
  ElfType type_ = ElfType::executable;
  std::uint64_t entry_ = 0, segments_ = 0;
  std::size_t segment_count_ = 0;
};

}  // namespace ingot::os
