// An initramfs: files in the "newc" form of cpio, read where the loader put them.
//
//   header (110 letters) | path, 0 | to 4 bytes | content | to 4 bytes | the next header ... | the entry "TRAILER!!!"
//
// Archives may follow each other, with zeros between; where two name the same path, the later one holds.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/result.h"

namespace ingot::os {

// It points into the archive.
struct CpioEntry {
  enum Field { inode, mode, user, group, links, modified, bytes, major, minor, rmajor, rminor, path_bytes, sum, count };
  enum class Kind : std::uint32_t { file = 0100000, directory = 0040000, symbolic_link = 0120000 };  // and devices

  std::string_view path;
  std::span<const std::byte> content;  // of a symbolic link: the path it stands for
  std::array<std::uint32_t, Field::count> fields{};

  constexpr Kind kind() const { return Kind{fields[Field::mode] & 0170000}; }
};

class CpioReader {
 public:
  explicit CpioReader(std::span<const std::byte> archives) : bytes_(archives) {}

  // The next entry, or nothing after the last. After an error the rest cannot be read.
  Result<std::optional<CpioEntry>> next();

 private:
  std::span<const std::byte> bytes_;
  std::size_t offset_ = 0;
  bool between_archives_ = true;
};

bool is_cpio(std::span<const std::byte> bytes);

// The entry with this path; "/" or "./" in front of either does not count. Only the last name of a file with several
// carries its content in the archive; here each does.
Result<CpioEntry> find_in_cpio(std::span<const std::byte> archives, std::string_view path);

}  // namespace ingot::os
