// ImageTable: where the parts of a cast image lie in physical memory.
//
// The kernel's image carries one, empty, in its data (os/boot/image_table.cc). `ingot cast` finds it by its magic in
// the kernel's file and fills it; a loader that puts the parts elsewhere (the UEFI stub) finds it in the same way and
// writes the places it chose. So the kernel needs no loader's help to learn them, and PVH, multiboot2 and UEFI all end
// here.
//
//   bundle      a cpio archive (newc): the manifest as its first member `ingot/manifest`, then the small files
//   segments    the large files as they are, by the index that the manifest's `file` lines name; 2 MiB-aligned
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/result.h"

namespace ingot {

struct ImagePart {
  std::uint64_t address = 0;  // physical
  std::uint64_t bytes = 0;    // as the file has them; zeros follow to the end of the last 4 KiB

  constexpr bool operator==(const ImagePart&) const = default;
};

struct ImageTable {
  static constexpr std::size_t magic_bytes = 16;
  static constexpr std::size_t segment_capacity = 30;
  static constexpr std::uint64_t bundle_alignment = 4096;
  static constexpr std::uint64_t segment_alignment = 2 << 20;
  static constexpr std::string_view manifest_path = "ingot/manifest";

  char magic[magic_bytes] = {'i', 'n', 'g', 'o', 't', '.', 'i', 'm', 'a', 'g', 'e', '.', '0', '1', '\r', '\n'};
  std::uint64_t segment_count = 0;
  ImagePart bundle;  // 0 bytes: the kernel was not cast
  ImagePart segments[segment_capacity];
};
static_assert(sizeof(ImageTable) == 16 + 8 + 31 * sizeof(ImagePart) && alignof(ImageTable) == 8);

// Where in a kernel's bytes its table begins. There is exactly one, at a multiple of 8 from the begin of its segment.
inline Result<std::size_t> find_image_table(std::span<const std::byte> segment) {
  constexpr ImageTable model;
  constexpr std::size_t none = ~std::size_t{0};
  std::size_t found = none;
  for (std::size_t offset = 0; offset + sizeof(ImageTable) <= segment.size(); offset += alignof(ImageTable)) {
    if (__builtin_memcmp(segment.data() + offset, model.magic, sizeof model.magic) != 0) continue;
    if (found != none) {
      return Error::of(ErrorCode::corrupt, "expected one image table, found two, at ", found, " and ", offset);
    }
    found = offset;
  }
  if (found != none) return found;
  return Error::of(ErrorCode::not_found, "expected an image table, found its magic in none of ", segment.size(),
                   " bytes");
}

}  // namespace ingot
