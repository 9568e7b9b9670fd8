// FileDescription: an open file, as several descriptors may share it. Everything a program can open is one: a file, a
// directory, a pipe, a terminal, a socket, later a GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/atomic.h"
#include "os/file/file_status.h"
#include "os/file/file_watchers.h"
#include "os/file/poll.h"
#include "os/file/transfer.h"
#include "os/memory/memory_object.h"
#include "os/memory/shared.h"
#include "os/schedule/mutex.h"

namespace ingot::os {

class ControlCaller;
class EpollFile;
class MessageQueue;
class Node;
class SocketFile;
class TimerFile;

// What mmap shows. The owner keeps the object alive: each region that shows it holds a reference.
struct FileMapping {
  MemoryObject* object = nullptr;  // none: zeroes of the mapping's own
  Reference<Shared> owner;
};

// Takes directory entries one after the other; false: no room, ask again from this one on.
class DirectorySink {
 public:
  struct Entry {
    std::string_view name;
    std::uint64_t inode = 0;
    FileKind kind = FileKind::regular;
    std::uint64_t next_position = 0;  // where a later call goes on after this entry
  };
  virtual Answer<bool> add(const Entry& entry) = 0;

 protected:
  ~DirectorySink() = default;
};

class FileDescription : public Shared {
 public:
  // The bits of open_flag.
  std::uint32_t flags() const { return flags_.load(MemoryOrder::relaxed); }
  void change_flags(std::uint32_t mask, std::uint32_t values);
  bool non_blocking() const { return (flags() & open_flag::non_blocking) != 0; }
  bool readable() const;
  bool writable() const;

  // A signal does not cut a long transfer short: of a file, programs take what is missing for its end (as on Linux).
  virtual bool is_moved_whole() const { return false; }

  // None of these waits: EAGAIN says that the file is not ready, and poll() will say when. A call that moved some bytes
  // before it had to stop answers their number. EBADF: not opened for this.
  Answer<std::size_t> read(Transfer& to);
  Answer<std::size_t> write(Transfer& from);
  Answer<std::size_t> read_at(Transfer& to, std::uint64_t offset);
  Answer<std::size_t> write_at(Transfer& from, std::uint64_t offset);

  virtual Answer<std::uint64_t> seek(std::int64_t, Whence) { return Errno::espipe; }
  virtual Answer<FileStatus> status() = 0;
  virtual Answer<void> truncate(std::uint64_t) { return Errno::einval; }
  // fallocate: a later write to the range does not fail for want of room. A long range comes in parts, of which the
  // last keeps them, or makes the file grow. Parts come between begin_reserving and end_reserving.
  enum class Reserved : std::uint8_t { part, keeps_size, grows };
  virtual Answer<void> reserve(std::uint64_t, std::uint64_t, Reserved) { return Errno::enodev; }
  virtual void begin_reserving() {}
  // The last to end gives back parts that no last one kept, so many bytes at most. False: it has not ended, there are
  // more.
  virtual bool end_reserving(std::uint64_t) { return true; }
  // fsync: EINVAL where there is nothing that could be kept.
  virtual Answer<void> synchronize() { return Errno::einval; }
  // ioctl: `argument` is a number or an address in the caller's memory. Alone of all calls it may sleep.
  virtual Answer<std::int64_t> control(std::uint32_t, std::uint64_t, ControlCaller&) { return Errno::enotty; }
  // What mmap shall show of [offset, offset + bytes), which does not wrap. The access is what is wanted now: a driver
  // may choose by all of them, and refuse.
  virtual Answer<FileMapping> mapping(std::uint64_t, std::uint64_t, Access) { return Errno::enodev; }
  virtual Answer<void> entries(DirectorySink&) { return Errno::enotdir; }

  // Which events of poll_event hold now; a file without a source is always ready.
  virtual std::uint32_t poll() { return poll_event::readable | poll_event::writable; }
  virtual PollSource* poll_source() { return nullptr; }
  // When the file will be ready by itself, if nothing else happens (a timerfd): waiters sleep no longer.
  virtual std::optional<Nanoseconds> ready_at() { return {}; }

  // How many descriptors there are, in all tables. When the last one goes, nobody can name the file any more, though a
  // call may still be at it.
  void add_descriptor() { descriptors_.fetch_add(1, MemoryOrder::relaxed); }
  void drop_descriptor() {
    if (descriptors_.fetch_subtract(1, MemoryOrder::acquire_release) == 1) watchers_.forget(*this);
  }
  bool has_descriptors() const { return descriptors_.load(MemoryOrder::acquire) != 0; }
  FileWatchers& watchers() { return watchers_; }

  // Those that have calls of their own.
  virtual EpollFile* as_epoll() { return nullptr; }
  virtual TimerFile* as_timer() { return nullptr; }
  virtual SocketFile* as_socket() { return nullptr; }
  virtual MessageQueue* as_message_queue() { return nullptr; }

  // What was opened, if it has a place in the tree.
  virtual Node* node() { return nullptr; }
  // What /proc/self/fd shows for a file that has none: "pipe:[3]", "anon_inode:[eventfd]".
  virtual std::string_view anonymous_name() const { return "anon_inode:[file]"; }

 protected:
  explicit FileDescription(std::uint32_t flags) : flags_(flags & ~open_flag::only_at_open) {}
  ~FileDescription() = default;

  virtual Answer<std::size_t> read_bytes(Transfer&) { return Errno::einval; }
  virtual Answer<std::size_t> write_bytes(Transfer&) { return Errno::einval; }
  virtual Answer<std::size_t> read_bytes_at(Transfer&, std::uint64_t) { return Errno::espipe; }
  virtual Answer<std::size_t> write_bytes_at(Transfer&, std::uint64_t) { return Errno::espipe; }

 private:
  Atomic<std::uint32_t> flags_;
  Atomic<std::uint32_t> descriptors_;
  FileWatchers watchers_;
};

// A description with a position: read and write go on where the last one stopped. A file only says how to read and
// write at an offset.
class SeekableDescription : public FileDescription {
 public:
  bool is_moved_whole() const final { return true; }
  Answer<std::uint64_t> seek(std::int64_t offset, Whence whence) override;
  Answer<void> synchronize() override { return {}; }

 protected:
  explicit SeekableDescription(std::uint32_t flags) : FileDescription(flags) {}
  ~SeekableDescription() = default;

  virtual Answer<std::uint64_t> size() = 0;
  // SEEK_DATA and SEEK_HOLE; a file without holes has data up to its end.
  virtual Answer<std::uint64_t> next_data(std::uint64_t offset);
  virtual Answer<std::uint64_t> next_hole(std::uint64_t offset);
  virtual Answer<std::size_t> write_range(Transfer& from, std::uint64_t offset);
  // Who appends holds it from finding the end to having written there, so that no other writes over it.
  virtual Mutex* append_lock() { return nullptr; }

 private:
  Answer<std::size_t> read_bytes(Transfer& to) final;
  Answer<std::size_t> write_bytes(Transfer& from) final;
  // As on Linux, a file that is appended to is so whatever the offset.
  Answer<std::size_t> write_bytes_at(Transfer& from, std::uint64_t offset) final;
  Answer<std::size_t> write_at_or_end(Transfer& from, std::uint64_t& offset);

  Mutex lock_{LockRank::file_position};  // two threads that read share the bytes out, each gets some
  std::uint64_t position_ = 0;
};

}  // namespace ingot::os
