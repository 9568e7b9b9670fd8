// The parts of a cast image (base/image/image_table.h) are segments of the kernel's file. They need not lie where it
// says: the firmware has places of its own in the midst of low memory. Where they went is written into the loaded
// kernel's table.
#pragma once

#include "base/image/image_table.h"
#include "os/boot/elf.h"
#include "os/memory/address.h"

namespace ingot::os::uefi {

class ImageParts {
 public:
  explicit ImageParts(const ElfFile& elf) {
    for (std::size_t index = 0; index < elf.segment_count(); ++index) {
      const ElfSegment segment = elf.segment(index);
      if (segment.kind != ElfSegment::loadable || (segment.flags & ElfSegment::write) == 0) continue;
      const std::span<const std::byte> bytes = elf.bytes_of(segment);
      const Result<std::size_t> found = find_image_table(bytes);
      if (!found.ok()) continue;
      __builtin_memcpy(&table_, bytes.data() + found.value(), sizeof table_);
      chosen_ = table_;
      place_ = segment.physical_address + found.value();
    }
  }

  // False for the kernel's own segments, and for all of a kernel that was not cast.
  bool contains(const ElfSegment& segment) const { return index_of(segment) != none; }

  // Precondition: contains(segment).
  void move(const ElfSegment& segment, std::uint64_t address) {
    const std::size_t index = index_of(segment);
    (index == bundle ? chosen_.bundle : chosen_.segments[index]).address = address;
  }

  // Precondition: the kernel's own segments are loaded.
  void write_table() const {
    if (place_ != 0) __builtin_memcpy(reinterpret_cast<void*>(place_), &chosen_, sizeof chosen_);
  }

 private:
  static constexpr std::size_t none = ~std::size_t{0}, bundle = none - 1;

  std::size_t index_of(const ElfSegment& segment) const {
    if (segment.kind != ElfSegment::loadable || table_.bundle.bytes == 0) return none;
    if (segment.physical_address == table_.bundle.address) return bundle;
    for (std::size_t index = 0; index < table_.segment_count && index < ImageTable::segment_capacity; ++index) {
      if (segment.physical_address == table_.segments[index].address) return index;
    }
    return none;
  }

  ImageTable table_, chosen_;  // as the file has it, and as it will be
  std::uint64_t place_ = 0;    // of the loaded kernel's
};

}  // namespace ingot::os::uefi
