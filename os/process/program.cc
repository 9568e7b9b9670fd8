#include "os/process/program.h"

namespace ingot::os {

namespace {

Access access_of(const ElfSegment& segment) {
  Access access = Access::none;
  if ((segment.flags & ElfSegment::read) != 0) access = access | Access::read;
  if ((segment.flags & ElfSegment::write) != 0) access = access | Access::read | Access::write;
  if ((segment.flags & ElfSegment::execute) != 0) access = access | Access::read | Access::execute;
  return access;
}

// Written once while it is loaded, by the kernel itself.
Result<void> fill(AddressSpace& space, VirtualAddress begin, std::uint64_t bytes, Access access, VirtualAddress place,
                  std::span<const std::byte> content) {
  TRY(copy_to_user(place, content.data(), content.size()));
  if (allows(access, Access::write)) return {};
  return space.protect(begin, bytes, access);
}

// Zeroes from the segment's last byte of the file to the end of its page.
Result<void> clear_rest_of_page(VirtualAddress from) {
  static constexpr std::byte zeroes[256] = {};
  const VirtualAddress end = from.rounded_up(page_bytes);
  while (from < end) {
    const std::uint64_t bytes = end - from < sizeof zeroes ? end - from : sizeof zeroes;
    TRY(copy_to_user(from, zeroes, bytes));
    from += bytes;
  }
  return {};
}

Result<void> load_segment(AddressSpace& space, MemoryObject& zeroes, const ProgramFile& file, const ElfSegment& segment,
                          VirtualAddress base) {
  const Access access = access_of(segment);
  const VirtualAddress start = base + segment.address;
  const VirtualAddress begin = start.rounded_down(page_bytes);
  const VirtualAddress file_end = (start + segment.file_bytes).rounded_up(page_bytes);
  const VirtualAddress end = (start + segment.memory_bytes).rounded_up(page_bytes);
  const std::uint64_t lead = start - begin;
  const bool needs_zeroes = segment.memory_bytes > segment.file_bytes;
  // A page that holds the file's last bytes and zeroes must be written, so it is a copy anyway where it is writable.
  const bool in_place = file.object != nullptr && segment.offset % page_bytes == lead && segment.file_bytes != 0 &&
                        (!needs_zeroes || allows(access, Access::write));
  VirtualAddress zeroes_begin = begin;
  if (in_place) {
    TRY(space.add({.object = file.object,
                   .object_offset = segment.offset - lead,
                   .bytes = file_end - begin,
                   .access = access,
                   .address = begin,
                   .owner = file.owner}));
    if (needs_zeroes) TRY(clear_rest_of_page(start + segment.file_bytes));
    zeroes_begin = file_end;
  }
  if (zeroes_begin >= end) return {};
  const Access first_access = in_place ? access : access | Access::read | Access::write;
  TRY(space.add({.object = &zeroes, .bytes = end - zeroes_begin, .access = first_access, .address = zeroes_begin}));
  if (in_place) return {};
  return fill(space, begin, end - begin, access, start, file.bytes.subspan(segment.offset, segment.file_bytes));
}

// What its segments ask for, so that their large pages can be the file's: from a page up to a large one.
std::uint64_t alignment_of(const ElfFile& elf) {
  std::uint64_t alignment = page_bytes;
  for (std::size_t index = 0; index < elf.segment_count(); ++index) {
    const ElfSegment segment = elf.segment(index);
    if (segment.kind == ElfSegment::loadable && segment.alignment > alignment) alignment = segment.alignment;
  }
  return alignment < large_page_bytes ? alignment : large_page_bytes;
}

}  // namespace

Result<std::optional<std::string_view>> interpreter_of(const ProgramFile& file) {
  const ElfFile elf = TRY(ElfFile::create(file.bytes, ElfMachine::x86_64));
  for (std::size_t index = 0; index < elf.segment_count(); ++index) {
    const ElfSegment segment = elf.segment(index);
    if (segment.kind != ElfSegment::interpreter) continue;
    const auto bytes = elf.bytes_of(segment);
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const std::size_t end = text.find('\0');
    if (end != std::string_view::npos && text.starts_with('/')) return std::optional(text.substr(0, end));
    return Error::of(ErrorCode::corrupt, "expected the path of an interpreter with a zero behind it, found ",
                     text.size(), " other bytes");
  }
  return std::optional<std::string_view>();
}

Result<LoadedProgram> load_program(AddressSpace& space, MemoryObject& zeroes, const ProgramFile& file,
                                   VirtualAddress base) {
  const ElfFile elf = TRY(ElfFile::create(file.bytes, ElfMachine::x86_64));
  LoadedProgram program;
  if (elf.type() == ElfType::shared) program.base = base.rounded_down(alignment_of(elf));
  const VirtualAddress entry = program.base + elf.entry();
  const std::optional<UserAddress> checked_entry = UserAddress::of(entry.value());
  if (!checked_entry) {
    return Error::of(ErrorCode::corrupt, "expected an entry below ", user_memory_end, ", found ", entry);
  }
  program.entry = *checked_entry;
  program.program_header_count = elf.segment_count();
  for (std::size_t index = 0; index < elf.segment_count(); ++index) {
    const ElfSegment segment = elf.segment(index);
    if (segment.kind != ElfSegment::loadable || segment.memory_bytes == 0) continue;
    TRY(load_segment(space, zeroes, file, segment, program.base));
    program.end = (program.base + segment.address + segment.memory_bytes).rounded_up(page_bytes);
    const std::uint64_t headers = elf.segments_offset();
    if (headers >= segment.offset && headers - segment.offset < segment.file_bytes) {
      program.program_headers = program.base + segment.address + (headers - segment.offset);
    }
  }
  if (program.end == VirtualAddress(0)) {
    return Error::of(ErrorCode::corrupt, "expected a segment to load, found none");
  }
  return program;
}

}  // namespace ingot::os
