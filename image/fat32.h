// A FAT32 volume that is written once, in order: small files in memory first, one large file last (Microsoft's "FAT32
// File System Specification", 1.03). No times, fixed identity, every file in one run of clusters.
//
//   boot sector, information, copies | FAT | FAT | root, folders, small files, the large file | free
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ingot::image {

inline constexpr std::uint64_t sector_bytes = 512;

struct SmallFile {
  std::string path;  // "EFI/BOOT/BOOTX64.EFI": names of at most 8 and 3 capital letters and digits
  std::string content;
};
struct LargeFile {
  std::string path;
  std::uint64_t bytes = 0;
};

class Fat32Volume {
 public:
  // Fails for names that need more than 8 + 3 letters, and for files of 4 GiB, which FAT has no room to count.
  static Result<Fat32Volume> plan(const std::vector<SmallFile>& small, const LargeFile& large,
                                  std::uint64_t hidden_sectors);

  std::uint64_t bytes() const { return sectors_ * sector_bytes; }
  // Everything before the large file's content, which follows at once.
  const std::string& front() const { return front_; }

 private:
  std::uint64_t sectors_ = 0;
  std::string front_;
};

}  // namespace ingot::image
