// Volume: what the files of one tree share: where they come from, and how much they may take.
#pragma once

#include <cstdint>

#include "base/atomic.h"
#include "base/units.h"
#include "os/memory/allocator.h"
#include "os/memory/frame_source.h"
#include "os/memory/physical_window.h"
#include "os/memory/shared.h"
#include "os/schedule/mutex.h"
#include "os/syscall/errno.h"

namespace ingot::os {

// What time it is; a test invents it.
class TimeSource {
 public:
  virtual Nanoseconds monotonic() = 0;  // since the start
  virtual Nanoseconds realtime() = 0;   // since 1970

 protected:
  ~TimeSource() = default;
};

// What files are made of. It outlives them.
struct FileServices {
  Allocator* heap = nullptr;
  FrameSource* frames = nullptr;
  PhysicalWindow window;
  TimeSource* time = nullptr;
  Mutex* names = nullptr;  // guards all directories of the tree
};

class Volume final : public Shared {
 public:
  // Facts are what the kernel tells in files, /proc and /sys: they are nobody's to change.
  enum class Writing : std::uint8_t { refused, facts, allowed };
  struct Limits {
    std::uint64_t pages = ~std::uint64_t{0};
    std::uint64_t nodes = ~std::uint64_t{0};
  };

  Volume(const FileServices& services, std::uint64_t device, Writing writing, Limits limits)
      : services_(services), device_(device), writing_(writing), limits_(limits) {}

  const FileServices& services() const { return services_; }
  Allocator& heap() const { return *services_.heap; }
  std::uint64_t device() const { return device_; }
  Limits limits() const { return limits_; }
  std::uint64_t new_inode() { return next_inode_.fetch_add(1, MemoryOrder::relaxed); }
  std::uint64_t nodes_made() const { return next_inode_.load(MemoryOrder::relaxed) - 1; }
  Nanoseconds now() const { return services_.time->realtime(); }

  // A volume is filled by the kernel, then closed to programs.
  Answer<void> check_writable() const {
    if (writing_ != Writing::allowed) return Errno::erofs;
    return {};
  }
  // Rights, owners and times.
  Answer<void> check_changeable() const {
    if (writing_ == Writing::facts) return Errno::eperm;
    return check_writable();
  }

  // ENOSPC when the quota is used up.
  Answer<void> take_page() { return take(pages_, limits_.pages); }
  // What an image brings along is there without being asked for.
  void count_pages(std::uint64_t count) { pages_.fetch_add(count, MemoryOrder::relaxed); }
  void give_back_pages(std::uint64_t count) { pages_.fetch_subtract(count, MemoryOrder::relaxed); }
  Answer<void> take_node() { return take(nodes_, limits_.nodes); }
  void give_back_node() { nodes_.fetch_subtract(1, MemoryOrder::relaxed); }
  std::uint64_t pages_in_use() const { return pages_.load(MemoryOrder::relaxed); }
  std::uint64_t nodes_in_use() const { return nodes_.load(MemoryOrder::relaxed); }

 private:
  // Several CPUs may be past the limit for a moment; each of them notices and goes back.
  static Answer<void> take(Atomic<std::uint64_t>& used, std::uint64_t limit) {
    if (used.fetch_add(1, MemoryOrder::relaxed) < limit) return {};
    used.fetch_subtract(1, MemoryOrder::relaxed);
    return Errno::enospc;
  }

  FileServices services_;
  std::uint64_t device_;
  Writing writing_;
  Limits limits_;
  Atomic<std::uint64_t> next_inode_{1};
  Atomic<std::uint64_t> pages_;
  Atomic<std::uint64_t> nodes_;
};

}  // namespace ingot::os
