// The cast image itself: the kernel's ELF file with more segments behind it.
//
//   file:    ELF header | program headers | kernel's segments | bundle | large file 0 | large file 1 | ...
//   memory:  1 MiB kernel | bundle at the next 4 KiB | large files, each at a multiple of 2 MiB
//
// Loaders read each segment from wherever it lies in the file, so nothing is padded. The kernel learns the places from
// the table in its data (base/image/image_table.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/image/grant_note.h"
#include "base/image/image_table.h"
#include "base/result.h"
#include "image/elf_file.h"

namespace ingot::image {

class KernelImage {
 public:
  // `bytes`: the kernel's ELF file. Fails unless it is for x86_64, has a PVH entry and exactly one table.
  static Result<KernelImage> parse(std::string bytes);

  // What it can grant, in order: the rights that its notes name (base/image/grant_note.h).
  const std::vector<std::string>& grants() const { return grants_; }
  // What is loaded of it.
  std::uint64_t bytes() const { return body_.size(); }

  struct Composed {
    std::string front;  // what stands in the file before the bundle
    ImageTable table;
    std::uint64_t file_bytes = 0;  // front, bundle and large files
    std::uint64_t memory_end = 0;  // physical: one past the last part's last page
  };
  Result<Composed> compose(std::uint64_t bundle_bytes, const std::vector<std::uint64_t>& segment_bytes) const;

 private:
  std::string header_;                // the ELF header
  std::string body_;                  // what segments hold, one behind the other; symbols for debuggers are in none
  std::vector<ElfSegment> segments_;  // with offsets in body_
  std::vector<std::string> grants_;
  std::size_t table_at_ = 0;      // in body_
  std::uint64_t memory_end_ = 0;  // of the kernel
};

// Reads back what was cast: the table, and the bundle's bytes. For `ingot boot`, which wants the manifest, and tests.
struct OpenedImage {
  ImageTable table;
  std::string bundle;
  std::vector<std::uint64_t> segment_offsets;  // in the file
};
Result<OpenedImage> open_image(const std::string& path);

// Below this a PC has memory without a hole, however much it has; above it the next place is 4 GiB.
inline constexpr std::uint64_t end_of_low_memory = std::uint64_t{2} << 30,
                               begin_of_high_memory = std::uint64_t{4} << 30;

}  // namespace ingot::image
