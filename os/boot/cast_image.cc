#include "os/boot/cast_image.h"

namespace ingot::os {

extern "C" {
// Not constant, so that no reader's compiler takes the zeros for granted; in its own section, so that it is data in the
// file and never joins the zeros that the loader makes.
[[gnu::section(".data.image_table")]] constinit ImageTable ingot_image_table{};
}

namespace {

bool is_usable(const MemoryMap& memory, PhysicalRange part) {
  std::uint64_t usable = 0;
  for (const MemoryRange& range : memory.ranges()) {
    if (range.kind != MemoryKind::usable) continue;
    const PhysicalAddress begin = range.begin > part.begin ? range.begin : part.begin;
    const PhysicalAddress end = range.end() < part.end() ? range.end() : part.end();
    if (begin < end) usable += end - begin;
  }
  return usable == part.bytes;
}

Result<void> add_part(const ImagePart& part, std::uint64_t alignment, BootInfo& boot_info) {
  const PhysicalRange range{PhysicalAddress(part.address), part.bytes};
  if (part.bytes == 0 || range.end() < range.begin) {
    return Error::of(ErrorCode::corrupt, "expected bytes within the address space, found ", part.bytes, " at ",
                     range.begin);
  }
  if (!range.begin.aligned(alignment)) {
    return Error::of(ErrorCode::corrupt, "expected an address at a multiple of ", alignment, ", found ", range.begin);
  }
  if (!is_usable(boot_info.memory, range)) {
    return Error::of(ErrorCode::out_of_memory, "expected ", part.bytes >> 10, " KiB of free memory at ", range.begin,
                     ", found less: give the machine more memory than the image has bytes");
  }
  return boot_info.add_module(range);
}

}  // namespace

Result<void> add_cast_image(const ImageTable& table, BootInfo& boot_info) {
  if (table.bundle.bytes == 0) return {};
  if (table.segment_count > ImageTable::segment_capacity) {
    return Error::of(ErrorCode::corrupt, "expected at most ", ImageTable::segment_capacity, " image segments, found ",
                     table.segment_count);
  }
  const Result<void> bundle = add_part(table.bundle, ImageTable::bundle_alignment, boot_info);
  if (!bundle.ok()) return bundle.error().within("image bundle");
  for (std::size_t index = 0; index < table.segment_count; ++index) {
    const Result<void> added = add_part(table.segments[index], ImageTable::segment_alignment, boot_info);
    if (!added.ok()) return added.error().within("image segment ", index);
  }
  boot_info.mark_image(1 + table.segment_count);
  return {};
}

}  // namespace ingot::os
