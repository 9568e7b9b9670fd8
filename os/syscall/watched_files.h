// WatchedFiles: the files that one call of poll or select waits for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "os/memory/allocator.h"
#include "os/syscall/deadlines.h"
#include "os/syscall/file_wait.h"

namespace ingot::os {

// One of them. Readiness is looked at without locks, as often as somebody says that it may have changed.
struct Watched {
  Reference<FileDescription> file;
  std::uint32_t wanted = 0;
  std::uint32_t found = 0;
  FileWait::Place place;
};

class WatchedFiles {
 public:
  explicit WatchedFiles(Allocator& heap) : heap_(heap) {}
  WatchedFiles(const WatchedFiles&) = delete;
  WatchedFiles& operator=(const WatchedFiles&) = delete;
  ~WatchedFiles();

  Answer<void> create(std::size_t count);
  std::span<Watched> files() { return {files_, count_}; }

  // Until one has something to say, or the time comes: how many have. EINTR where a handler runs.
  Answer<std::size_t> wait(UserThread& thread, Nanoseconds now, Until deadline);

 private:
  std::size_t look();
  void leave();  // before the FileWait goes that they joined

  Allocator& heap_;
  Watched* files_ = nullptr;
  std::size_t count_ = 0;
};

}  // namespace ingot::os
