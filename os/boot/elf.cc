#include "os/boot/elf.h"

namespace ingot::os {

namespace {

struct ElfHeader {
  std::uint32_t magic;
  std::uint8_t word_size, byte_order, version, system, rest[8];
  std::uint16_t type, machine;
  std::uint32_t object_version;
  std::uint64_t entry, segments, sections;
  std::uint32_t flags;
  std::uint16_t header_bytes, segment_bytes, segment_count, section_bytes, section_count, names_index;
};
static_assert(sizeof(ElfHeader) == 64);

constexpr std::uint32_t elf_magic = 0x464c457f;

constexpr bool inside(std::uint64_t begin, std::uint64_t count, std::uint64_t end) {
  return begin <= end && count <= end - begin;
}

Result<void> check_segment(const ElfSegment& segment, std::size_t index, std::uint64_t file_bytes) {
  const auto wrong = [&](const auto&... what) {
    return Error::of(ErrorCode::corrupt, "segment ", index, ": expected ", what...);
  };
  if (!inside(segment.offset, segment.file_bytes, file_bytes)) {
    return wrong("bytes within a file of ", file_bytes, ", found ", segment.file_bytes, " from ", segment.offset);
  }
  if (segment.kind != ElfSegment::loadable) return {};
  if (segment.file_bytes > segment.memory_bytes) {
    return wrong("at most ", segment.memory_bytes, " bytes in the file, found ", segment.file_bytes);
  }
  if (!inside(segment.address, segment.memory_bytes, UINT64_MAX) ||
      !inside(segment.physical_address, segment.memory_bytes, UINT64_MAX)) {
    return wrong("an end below 2^64, found ", segment.memory_bytes, " bytes from ", segment.address);
  }
  const std::uint64_t alignment = segment.alignment > 1 ? segment.alignment : 1;
  if ((alignment & (alignment - 1)) != 0 || (segment.address - segment.offset) % alignment != 0) {
    return wrong("address and offset to agree modulo a power of two, found ", segment.address, " and ", segment.offset,
                 " modulo ", alignment);
  }
  return {};
}

}  // namespace

Result<ElfFile> ElfFile::create(std::span<const std::byte> file, ElfMachine machine) {
  ElfHeader header;
  if (file.size() < sizeof header) {
    return Error::of(ErrorCode::corrupt, "expected an ELF header, found ", file.size(), " bytes");
  }
  __builtin_memcpy(&header, file.data(), sizeof header);
  constexpr std::uint8_t words_of_64_bits = 2, little_endian = 1;
  if (header.magic != elf_magic || header.word_size != words_of_64_bits || header.byte_order != little_endian) {
    return Error::of(ErrorCode::corrupt, "expected a little-endian ELF64 file, found something else");
  }
  if (header.machine != static_cast<std::uint16_t>(machine)) {
    return Error::of(ErrorCode::unsupported, "expected a file for machine ", static_cast<unsigned>(machine), ", found ",
                     header.machine);
  }
  ElfFile elf;
  elf.type_ = static_cast<ElfType>(header.type);
  if (elf.type_ != ElfType::executable && elf.type_ != ElfType::shared) {
    return Error::of(ErrorCode::unsupported, "expected a file to execute, found ELF type ", header.type);
  }
  if (header.segment_bytes != sizeof(ElfSegment) ||
      !inside(header.segments, header.segment_count * sizeof(ElfSegment), file.size())) {
    return Error::of(ErrorCode::corrupt, "expected program headers of ", sizeof(ElfSegment), " bytes within ",
                     file.size(), ", found ", header.segment_count, " of ", header.segment_bytes, " from ",
                     header.segments);
  }
  elf.file_ = file;
  elf.entry_ = header.entry;
  elf.segments_ = header.segments;
  elf.segment_count_ = header.segment_count;
  TRY(elf.check_segments());
  return elf;
}

Result<void> ElfFile::check_segments() const {
  std::uint64_t end = 0;
  for (std::size_t index = 0; index < segment_count_; ++index) {
    const ElfSegment found = segment(index);
    TRY(check_segment(found, index, file_.size()));
    if (found.kind != ElfSegment::loadable) continue;
    if (found.address < end) {
      return Error::of(ErrorCode::corrupt, "segment ", index, ": expected an address from ", end, " on, found ",
                       found.address);
    }
    end = found.address + found.memory_bytes;
  }
  return {};
}

ElfSegment ElfFile::segment(std::size_t index) const {
  ElfSegment found;
  __builtin_memcpy(&found, file_.data() + segments_ + index * sizeof found, sizeof found);
  return found;
}

}  // namespace ingot::os
