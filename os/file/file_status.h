// What is known of a file (struct stat), and the numbers by which programs ask for one.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/units.h"

namespace ingot::os {

// The kind of a file as the upper bits of its mode.
enum class FileKind : std::uint32_t {
  pipe = 0010000,
  character_device = 0020000,
  directory = 0040000,
  block_device = 0060000,
  regular = 0100000,
  symbolic_link = 0120000,
  socket = 0140000,
  anonymous = 0,  // an eventfd, an epoll: Linux shows no kind either
};

struct FileTimes {
  Nanoseconds accessed, modified, changed;  // since 1970
};

struct FileStatus {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  FileKind kind = FileKind::regular;
  std::uint32_t permissions = 0;  // 0 to 07777
  std::uint32_t links = 1;
  std::uint32_t user = 0, group = 0;
  std::uint64_t device_number = 0;  // of a device file
  std::uint64_t bytes = 0;
  std::uint64_t allocated_bytes = 0;
  FileTimes times;

  constexpr std::uint32_t mode() const { return static_cast<std::uint32_t>(kind) | permissions; }
};

// As Linux packs it into a word.
constexpr std::uint64_t make_device_number(std::uint32_t major, std::uint32_t minor) {
  return (std::uint64_t{major} & 0xfff) << 8 | (minor & 0xff) | (std::uint64_t{minor} & ~0xffull) << 12 |
         (std::uint64_t{major} & ~0xfffull) << 32;
}

// Of open and fcntl, with the numbers of x86_64 (aarch64 exchanges directory, no_follow, direct and large_file).
namespace open_flag {
inline constexpr std::uint32_t read_only = 0, write_only = 1, read_write = 2, access_mask = 3;
inline constexpr std::uint32_t create = 0100, exclusive = 0200, no_terminal = 0400, truncate = 01000, append = 02000;
inline constexpr std::uint32_t non_blocking = 04000, data_sync = 010000, direct = 040000, large_file = 0100000;
inline constexpr std::uint32_t directory = 0200000, no_follow = 0400000, no_access_time = 01000000;
inline constexpr std::uint32_t close_on_execute = 02000000, sync = 04010000, path = 010000000;
inline constexpr std::uint32_t temporary = 020000000 | directory;
// What fcntl(F_SETFL) may change, and what F_GETFL never shows.
inline constexpr std::uint32_t changeable = append | non_blocking | direct | no_access_time;
inline constexpr std::uint32_t only_at_open = create | exclusive | no_terminal | truncate | close_on_execute;
}  // namespace open_flag

enum class Whence : std::uint32_t { begin = 0, current = 1, end = 2, data = 3, hole = 4 };

}  // namespace ingot::os
