#include "image/elf_file.h"

#include "image/bytes.h"
#include "image/library_directories.h"

namespace ingot::image {

namespace {

// Offsets in the ELF header and in a program header (System V ABI, chapter 4).
enum HeaderOffset { class_at = 4, data_at = 5, type_at = 16, machine_at = 18, entry_at = 24, table_at = 32 };
enum HeaderCounts { segment_bytes_at = 54, segment_count_at = 56 };
enum DynamicTag : std::uint64_t {
  tag_end = 0,
  tag_needed = 1,
  tag_hash = 4,
  tag_strings = 5,
  tag_symbols = 6,
  tag_rpath = 15,
  tag_runpath = 29,
  tag_gnu_hash = 0x6ffffef5
};

ElfSegment segment_at(std::string_view bytes) {
  return {number_at<std::uint32_t>(bytes, 0),  number_at<std::uint32_t>(bytes, 4),  number_at<std::uint64_t>(bytes, 8),
          number_at<std::uint64_t>(bytes, 16), number_at<std::uint64_t>(bytes, 24), number_at<std::uint64_t>(bytes, 32),
          number_at<std::uint64_t>(bytes, 40), number_at<std::uint64_t>(bytes, 48)};
}

Result<std::string> text_in(std::string_view strings, std::uint64_t offset) {
  if (offset < strings.size()) {
    const std::size_t end = strings.find('\0', offset);
    if (end != std::string_view::npos) return std::string(strings.substr(offset, end - offset));
  }
  return Error::of(ErrorCode::corrupt, "expected a text that a zero ends in the dynamic section, found none at ",
                   offset);
}

}  // namespace

std::string machine_name(std::uint16_t machine) {
  switch (machine) {
    case 3: return "i386";
    case 40: return "arm";
    case elf_x86_64: return "x86_64";
    case elf_aarch64: return "aarch64";
    case 243: return "riscv";
    default: return "machine " + std::to_string(machine);
  }
}

Result<ElfFile> ElfFile::parse(std::string_view bytes) {
  if (!looks_like(bytes)) return Error::of(ErrorCode::corrupt, "expected an ELF file, found another beginning");
  const std::string_view header = TRY(part_of(bytes, 0, elf_header_bytes, "an ELF header"));
  const int width = static_cast<unsigned char>(header[class_at]), order = static_cast<unsigned char>(header[data_at]);
  ElfFile file;
  file.bytes_ = bytes;
  file.machine_ = number_at<std::uint16_t>(header, machine_at);
  if (width != 2 || order != 1) {
    return Error::of(ErrorCode::unsupported, "expected a 64-bit little-endian ELF file, found class ", width,
                     ", order ", order, " (", std::string_view(machine_name(file.machine_)), ")");
  }
  file.type_ = number_at<std::uint16_t>(header, type_at);
  file.entry_ = number_at<std::uint64_t>(header, entry_at);
  file.table_ = number_at<std::uint64_t>(header, table_at);
  const auto count = number_at<std::uint16_t>(header, segment_count_at);
  const auto size = number_at<std::uint16_t>(header, segment_bytes_at);
  if (count != 0 && size != elf_segment_bytes) {
    return Error::of(ErrorCode::corrupt, "expected program headers of ", elf_segment_bytes, " bytes, found ", size);
  }
  const std::string_view table = TRY(part_of(bytes, file.table_, count * elf_segment_bytes, "program headers"));
  for (std::size_t index = 0; index < count; ++index) {
    const ElfSegment segment = segment_at(table.substr(index * elf_segment_bytes));
    TRY(part_of(bytes, segment.offset, segment.file_bytes, "a segment"));
    if (segment.type == ElfSegment::load && segment.memory_bytes < segment.file_bytes) {
      return Error::of(ErrorCode::corrupt, "expected a segment not larger in the file than in memory, found ",
                       segment.file_bytes, " > ", segment.memory_bytes);
    }
    file.segments_.push_back(segment);
  }
  return file;
}

Result<std::string_view> ElfFile::at_virtual(std::uint64_t address) const {
  for (const ElfSegment& segment : segments_) {
    if (segment.type != ElfSegment::load || address < segment.virtual_address) continue;
    const std::uint64_t inside = address - segment.virtual_address;
    if (inside < segment.file_bytes) return content(segment).substr(inside);
  }
  return Error::of(ErrorCode::corrupt, "expected an address inside a segment, found ", address);
}

Result<std::optional<std::string>> ElfFile::interpreter() const {
  for (const ElfSegment& segment : segments_) {
    if (segment.type == ElfSegment::interpreter) return std::optional(TRY(text_in(content(segment), 0)));
  }
  return std::optional<std::string>();
}

// What the dynamic section says, still as addresses and offsets.
struct ElfFile::Dynamic {
  std::vector<std::uint64_t> needed, rpath, run_path;
  std::uint64_t strings = 0, symbols = 0, hash = 0, gnu_hash = 0;
};

ElfFile::Dynamic ElfFile::dynamic() const {
  Dynamic found;
  for (const ElfSegment& segment : segments_) {
    if (segment.type != ElfSegment::dynamic) continue;
    const std::string_view entries = content(segment);
    for (std::size_t at = 0; at + 16 <= entries.size(); at += 16) {
      const auto value = number_at<std::uint64_t>(entries, at + 8);
      switch (number_at<std::uint64_t>(entries, at)) {
        case tag_end: return found;
        case tag_needed: found.needed.push_back(value); break;
        case tag_rpath: found.rpath.push_back(value); break;
        case tag_runpath: found.run_path.push_back(value); break;
        case tag_strings: found.strings = value; break;
        case tag_symbols: found.symbols = value; break;
        case tag_hash: found.hash = value; break;
        case tag_gnu_hash: found.gnu_hash = value; break;
        default: break;
      }
    }
  }
  return found;
}

Result<ElfFile::Libraries> ElfFile::libraries() const {
  Libraries libraries;
  const Dynamic found = dynamic();
  if (found.needed.empty() && found.rpath.empty() && found.run_path.empty()) return libraries;
  const std::string_view strings = TRY(at_virtual(found.strings));
  for (const std::uint64_t offset : found.needed) libraries.needed.push_back(TRY(text_in(strings, offset)));
  for (const std::uint64_t offset : found.rpath) libraries.rpath = split_paths(TRY(text_in(strings, offset)));
  for (const std::uint64_t offset : found.run_path) libraries.run_path = split_paths(TRY(text_in(strings, offset)));
  return libraries;
}

// A symbol table does not say how long it is. The tables for finding exported names do: the older one counts all, the
// newer one says where the exported ones begin, behind the imported ones.
Result<std::vector<std::string>> ElfFile::imports() const {
  constexpr std::size_t symbol_bytes = 24, section_at = 6;
  std::vector<std::string> names;
  const Dynamic found = dynamic();
  if (found.symbols == 0 || (found.hash == 0 && found.gnu_hash == 0)) return names;
  const std::string_view table = TRY(at_virtual(found.gnu_hash != 0 ? found.gnu_hash : found.hash));
  const std::string_view head = TRY(part_of(table, 0, 8, "a table of symbols' hashes"));
  const auto count = number_at<std::uint32_t>(head, 4);
  const std::string_view strings = TRY(at_virtual(found.strings));
  const std::string_view symbols = TRY(at_virtual(found.symbols));
  TRY(part_of(symbols, 0, std::uint64_t{count} * symbol_bytes, "symbols"));
  for (std::size_t index = 1; index < count; ++index) {
    const std::string_view symbol = symbols.substr(index * symbol_bytes, symbol_bytes);
    if (number_at<std::uint16_t>(symbol, section_at) != 0) continue;
    names.push_back(TRY(text_in(strings, number_at<std::uint32_t>(symbol, 0))));
  }
  return names;
}

}  // namespace ingot::image
