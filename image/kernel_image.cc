#include "image/kernel_image.h"

#include <algorithm>

#include "base/units.h"
#include "image/bytes.h"
#include "image/content.h"

namespace ingot::image {

namespace {

constexpr std::uint64_t page_bytes = 4096;
constexpr std::size_t segment_table_field = 32, section_fields = 40, segment_count_field = 56, section_counts = 58;
// The linker pads segments to whole pages in the file, for systems that map them. Loaders of kernels read them, so they
// are packed to what the kernel's own data may be aligned to (a multiboot2 header to 8).
constexpr std::uint64_t packed_alignment = 16;

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

// Calls visit(owner, type, description) for every note; one that leaves its segment ends that.
template <class Visit>
void for_each_note(const ElfFile& file, Visit&& visit) {
  constexpr std::uint64_t head_bytes = 12;
  for (const ElfSegment& segment : file.segments()) {
    if (segment.type != ElfSegment::note) continue;
    std::string_view rest = file.content(segment);
    while (rest.size() >= head_bytes) {
      const std::uint64_t owner_bytes = number_at<std::uint32_t>(rest, 0);
      const std::uint64_t description_bytes = number_at<std::uint32_t>(rest, 4);
      const std::uint64_t description_at = head_bytes + align_up(owner_bytes, 4);
      if (description_at + description_bytes > rest.size()) break;
      std::string_view owner = rest.substr(head_bytes, owner_bytes);
      owner = owner.substr(0, owner.find('\0'));
      visit(owner, number_at<std::uint32_t>(rest, 8), rest.substr(description_at, description_bytes));
      rest.remove_prefix(std::min<std::uint64_t>(rest.size(), description_at + align_up(description_bytes, 4)));
    }
  }
}

bool has_pvh_entry(const ElfFile& file) {
  constexpr std::uint32_t physical_entry = 18;  // XEN_ELFNOTE_PHYS32_ENTRY
  bool found = false;
  for_each_note(file, [&](std::string_view owner, std::uint32_t type, std::string_view) {
    found = found || (owner == "Xen" && type == physical_entry);
  });
  return found;
}

std::vector<std::string> grants_in(const ElfFile& file) {
  std::vector<std::string> grants;
  for_each_note(file, [&](std::string_view owner, std::uint32_t type, std::string_view right) {
    if (owner != GrantNote::owner_name || type != GrantNote::grant_type) return;
    grants.emplace_back(right.substr(0, right.find('\0')));
  });
  std::sort(grants.begin(), grants.end());
  return grants;
}

// Where in the file.
Result<std::size_t> find_table(const ElfFile& file) {
  std::optional<std::size_t> found;
  for (const ElfSegment& segment : file.segments()) {
    if (segment.type != ElfSegment::load || (segment.flags & ElfSegment::write) == 0) continue;
    const Result<std::size_t> inside = find_image_table(bytes_of(file.content(segment)));
    if (!inside.ok() && inside.error().code() == ErrorCode::not_found) continue;
    if (!inside.ok()) return inside.error();
    if (found) return Error::of(ErrorCode::corrupt, "expected one image table, found two");
    found = segment.offset + inside.value();
  }
  if (found) return *found;
  return Error::of(ErrorCode::corrupt,
                   "expected an image table in the kernel's data, found none: is it Ingot's kernel?");
}

void append_segment(std::string& table, const ElfSegment& segment) {
  append_number(table, segment.type);
  append_number(table, segment.flags);
  for (const std::uint64_t field : {segment.offset, segment.virtual_address, segment.physical_address,
                                    segment.file_bytes, segment.memory_bytes, segment.alignment}) {
    append_number(table, field);
  }
}

std::string encoded(const ImageTable& table) {
  std::string bytes(table.magic, sizeof table.magic);
  append_number(bytes, table.segment_count);
  append_number(bytes, table.bundle.address);
  append_number(bytes, table.bundle.bytes);
  for (const ImagePart& part : table.segments) {
    append_number(bytes, part.address);
    append_number(bytes, part.bytes);
  }
  return bytes;
}

ImageTable decoded(std::string_view bytes) {
  ImageTable table;
  table.segment_count = number_at<std::uint64_t>(bytes, 16);
  table.bundle = {number_at<std::uint64_t>(bytes, 24), number_at<std::uint64_t>(bytes, 32)};
  for (std::size_t index = 0; index < ImageTable::segment_capacity; ++index) {
    const std::size_t at = 40 + 16 * index;
    table.segments[index] = {number_at<std::uint64_t>(bytes, at), number_at<std::uint64_t>(bytes, at + 8)};
  }
  return table;
}

// Places one behind the other, and passes the hole below 4 GiB.
ImagePart place(std::uint64_t& end, std::uint64_t bytes, std::uint64_t alignment) {
  std::uint64_t address = align_up(end, alignment);
  if (address < begin_of_high_memory && align_up(address + bytes, page_bytes) > end_of_low_memory) {
    address = begin_of_high_memory;
  }
  end = align_up(address + bytes, page_bytes);
  return {address, bytes};
}

}  // namespace

Result<KernelImage> KernelImage::parse(std::string bytes) {
  KernelImage kernel;
  const ElfFile file = TRY(ElfFile::parse(bytes));
  if (file.machine() != elf_x86_64) {
    return Error::of(ErrorCode::unsupported, "expected a kernel for x86_64, found one for ",
                     std::string_view(machine_name(file.machine())));
  }
  if (!has_pvh_entry(file)) {
    return Error::of(ErrorCode::unsupported, "expected a kernel with a PVH entry note, found none");
  }
  kernel.grants_ = grants_in(file);
  const std::size_t table = TRY(find_table(file));
  for (const ElfSegment& segment : file.segments()) {
    if (segment.type != ElfSegment::load) continue;
    std::uint64_t memory_end = 0;
    if (__builtin_add_overflow(segment.physical_address, segment.memory_bytes, &memory_end) ||
        memory_end > end_of_low_memory) {
      return Error::of(ErrorCode::corrupt, "expected a kernel below 2 GiB, found a segment of ", segment.memory_bytes,
                       " bytes at ", segment.physical_address);
    }
    kernel.memory_end_ = std::max(kernel.memory_end_, memory_end);
    ElfSegment packed = segment;
    packed.offset = align_up(kernel.body_.size(), packed_alignment);
    packed.alignment = packed_alignment;
    kernel.body_.resize(packed.offset);
    kernel.body_ += file.content(segment);
    if (table - segment.offset < segment.file_bytes) kernel.table_at_ = packed.offset + (table - segment.offset);
    kernel.segments_.push_back(packed);
    // Notes and the like lie within what is loaded.
    for (const ElfSegment& part : file.segments()) {
      if (part.type == ElfSegment::load || part.offset - segment.offset >= segment.file_bytes) continue;
      kernel.segments_.push_back(part);
      kernel.segments_.back().offset = packed.offset + (part.offset - segment.offset);
    }
  }
  kernel.header_ = bytes.substr(0, elf_header_bytes);
  return kernel;
}

Result<KernelImage::Composed> KernelImage::compose(std::uint64_t bundle_bytes,
                                                   const std::vector<std::uint64_t>& segment_bytes) const {
  if (segment_bytes.size() > ImageTable::segment_capacity) {
    return Error::of(ErrorCode::unsupported, "expected at most ", ImageTable::segment_capacity,
                     " files of 2 MiB and more, found ", segment_bytes.size());
  }
  Composed composed;
  std::uint64_t memory_end = memory_end_;
  composed.table.bundle = place(memory_end, bundle_bytes, ImageTable::bundle_alignment);
  composed.table.segment_count = segment_bytes.size();
  for (std::size_t index = 0; index < segment_bytes.size(); ++index) {
    composed.table.segments[index] = place(memory_end, segment_bytes[index], ImageTable::segment_alignment);
  }
  composed.memory_end = memory_end;

  // Before the kernel's own, whose virtual addresses are high: ELF wants loadable segments in order of those.
  std::string headers;
  const std::size_t header_count = 1 + segment_bytes.size() + segments_.size();
  const std::uint64_t body_at = align_up(elf_header_bytes + header_count * elf_segment_bytes, packed_alignment);
  std::uint64_t offset = body_at + body_.size();
  const auto add = [&](const ImagePart& part, std::uint64_t alignment) {
    const std::uint64_t in_memory = align_up(part.bytes, page_bytes);  // the loader's zeros behind the last byte
    append_segment(headers, {ElfSegment::load, ElfSegment::read, offset, part.address, part.address, part.bytes,
                             in_memory, alignment});
    offset += part.bytes;
  };
  // An alignment of 1: offset and address need not agree modulo anything larger, and the file is not padded.
  add(composed.table.bundle, 1);
  for (std::size_t index = 0; index < segment_bytes.size(); ++index) add(composed.table.segments[index], 1);
  for (ElfSegment segment : segments_) {
    segment.offset += body_at;
    append_segment(headers, segment);
  }
  composed.file_bytes = offset;

  composed.front = header_ + headers;
  composed.front.resize(body_at);
  composed.front += body_;
  put_number<std::uint64_t>(composed.front, segment_table_field, elf_header_bytes);
  put_number(composed.front, segment_count_field, static_cast<std::uint16_t>(header_count));
  // The sections were cut off.
  put_number<std::uint64_t>(composed.front, section_fields, 0);
  put_number<std::uint32_t>(composed.front, section_counts + 0, 0);
  put_number<std::uint16_t>(composed.front, section_counts + 4, 0);
  const std::string table = encoded(composed.table);
  composed.front.replace(body_at + table_at_, table.size(), table);
  return composed;
}

Result<OpenedImage> open_image(const std::string& path) {
  constexpr std::uint64_t most_of_front = 16 << 20, most_of_bundle = std::uint64_t{1} << 30;
  const Content whole = TRY(Content::of_file(path));
  // Headers first: the segments behind the kernel may be larger than memory.
  const Content head = TRY(whole.part(0, std::min<std::uint64_t>(whole.size(), page_bytes)));
  const std::string header = TRY(head.read(page_bytes));
  if (!ElfFile::looks_like(header) || header.size() < elf_header_bytes) {
    return Error::of(ErrorCode::corrupt, "expected an image in ELF form, found another in '", shortened(path), "'");
  }
  const std::size_t count = number_at<std::uint16_t>(header, segment_count_field);
  const std::string_view headers = TRY(part_of(header, elf_header_bytes, count * elf_segment_bytes, "program headers"));
  OpenedImage opened;
  const auto field = [&](std::size_t index, std::size_t at) {
    return number_at<std::uint64_t>(headers, index * elf_segment_bytes + at);
  };
  bool found = false;
  for (std::size_t index = 0; index < count && !found; ++index) {
    if (number_at<std::uint32_t>(headers, index * elf_segment_bytes) != ElfSegment::load) continue;
    const std::uint64_t offset = field(index, 8), bytes = field(index, 32);
    if (bytes > most_of_front) continue;
    const Content part = TRY(whole.part(offset, bytes));
    const std::string content = TRY(part.read(most_of_front));
    const Result<std::size_t> inside = find_image_table(bytes_of(content));
    if (!inside.ok()) continue;
    opened.table = decoded(std::string_view(content).substr(inside.value()));
    found = true;
  }
  if (!found || opened.table.bundle.bytes == 0 || opened.table.segment_count > ImageTable::segment_capacity) {
    return Error::of(ErrorCode::corrupt, "expected an image that `ingot cast` made, found no filled table in '",
                     shortened(path), "'");
  }
  const auto offset_of = [&](const ImagePart& part) -> Result<std::uint64_t> {
    for (std::size_t index = 0; index < count; ++index) {
      if (field(index, 24) != part.address || field(index, 32) != part.bytes) continue;
      TRY(whole.part(field(index, 8), part.bytes));
      return field(index, 8);
    }
    return Error::of(ErrorCode::corrupt, "expected a segment for each part of the image, found none at ", part.address);
  };
  const std::uint64_t bundle_at = TRY(offset_of(opened.table.bundle));
  const Content bundle = TRY(whole.part(bundle_at, opened.table.bundle.bytes));
  opened.bundle = TRY(bundle.read(most_of_bundle));
  for (std::size_t index = 0; index < opened.table.segment_count; ++index) {
    opened.segment_offsets.push_back(TRY(offset_of(opened.table.segments[index])));
  }
  return opened;
}

}  // namespace ingot::image
