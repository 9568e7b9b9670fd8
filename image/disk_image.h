// A raw disk with one EFI system partition, which firmware boots without being told: a GUID partition table (UEFI
// specification, chapter 5), and a FAT32 volume in it.
#pragma once

#include <functional>

#include "image/fat32.h"
#include "image/output_file.h"

namespace ingot::image {

class DiskImage {
 public:
  static Result<DiskImage> plan(const std::vector<SmallFile>& small, const LargeFile& large);

  std::uint64_t bytes() const { return sectors_ * sector_bytes; }
  // What is not a hole in the file.
  std::uint64_t used_bytes() const;
  // `write_large` writes the large file's content, exactly the bytes that were planned.
  Result<void> write(OutputFile& file, const std::function<Result<void>(OutputFile&)>& write_large) const;

 private:
  explicit DiskImage(Fat32Volume volume) : volume_(std::move(volume)) {}
  std::string header(std::uint64_t own, std::uint64_t other, std::uint64_t entries_at, std::uint32_t entries_sum) const;

  Fat32Volume volume_;
  std::uint64_t large_bytes_ = 0;
  std::uint64_t sectors_ = 0;
};

}  // namespace ingot::image
