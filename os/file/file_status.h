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

// Of what is a descriptor and no file: events, timers, lists of descriptors to watch.
constexpr FileStatus anonymous_status() {
  FileStatus status;
  status.kind = FileKind::anonymous;
  status.permissions = 0600;
  return status;
}

// As Linux packs it into a word.
constexpr std::uint64_t make_device_number(std::uint32_t major, std::uint32_t minor) {
  return (std::uint64_t{major} & 0xfff) << 8 | (minor & 0xff) | (std::uint64_t{minor} & ~0xffull) << 12 |
         (std::uint64_t{major} & ~0xfffull) << 32;
}

// Of open and fcntl, with the numbers of x86_64 (aarch64 exchanges directory, no_follow, direct and large_file).
namespace open_flag {
inline constexpr std::uint32_t read_only = 0, write_only = 1, read_write = 2;  // O_RDONLY, O_WRONLY, O_RDWR
inline constexpr std::uint32_t access_mask = 3;                                // O_ACCMODE
inline constexpr std::uint32_t create = 0100, exclusive = 0200;                // O_CREAT, O_EXCL
inline constexpr std::uint32_t no_terminal = 0400, truncate = 01000;           // O_NOCTTY, O_TRUNC
inline constexpr std::uint32_t append = 02000, non_blocking = 04000;           // O_APPEND, O_NONBLOCK
inline constexpr std::uint32_t data_sync = 010000, sync = 04010000;            // O_DSYNC, O_SYNC
inline constexpr std::uint32_t direct = 040000, large_file = 0100000;          // O_DIRECT, O_LARGEFILE
inline constexpr std::uint32_t directory = 0200000, no_follow = 0400000;       // O_DIRECTORY, O_NOFOLLOW
inline constexpr std::uint32_t no_access_time = 01000000;                      // O_NOATIME
inline constexpr std::uint32_t close_on_execute = 02000000;                    // O_CLOEXEC
inline constexpr std::uint32_t path = 010000000;                               // O_PATH
inline constexpr std::uint32_t temporary = 020000000 | directory;              // O_TMPFILE
// What fcntl(F_SETFL) may change, and what F_GETFL never shows.
inline constexpr std::uint32_t changeable = append | non_blocking | direct | no_access_time;
inline constexpr std::uint32_t only_at_open = create | exclusive | no_terminal | truncate | close_on_execute;
}  // namespace open_flag

enum class Whence : std::uint32_t { begin = 0, current = 1, end = 2, data = 3, hole = 4 };

}  // namespace ingot::os
