// FileWatchers: those who keep a file for longer than a call (epolls), and let it go when its last descriptor goes.
#pragma once

#include "base/intrusive_list.h"
#include "os/schedule/locked.h"

namespace ingot::os {

class FileDescription;

class FileKeeper {
 public:
  // One more owner of the keeper, unless it is going already.
  virtual bool try_keep() = 0;
  // Lets the file go, and then the ownership that try_keep gave.
  virtual void forget_and_drop(FileDescription& file) = 0;

 protected:
  ~FileKeeper() = default;
};

// A keeper's place in a file's list.
class FileWatcher : public ListLink<struct FileWatcherTag> {
 public:
  explicit FileWatcher(FileKeeper& keeper) : keeper_(keeper) {}

 private:
  friend class FileWatchers;

  FileKeeper& keeper_;
};

class FileWatchers {
 public:
  void add(FileWatcher& watcher) {
    list_.with([&](List& list) { list.push_back(watcher); });
  }
  void remove(FileWatcher& watcher) {
    list_.with([&](List& list) {
      if (watcher.is_linked()) list.remove(watcher);
    });
  }
  // Once outside of the lock, a watcher may be gone: only its keeper, who is kept, is asked.
  void forget(FileDescription& file) {
    while (true) {
      FileKeeper* kept = list_.with([](List& list) -> FileKeeper* {
        while (FileWatcher* watcher = list.pop_front()) {
          if (watcher->keeper_.try_keep()) return &watcher->keeper_;
        }
        return nullptr;
      });
      if (kept == nullptr) return;
      kept->forget_and_drop(file);
    }
  }

 private:
  using List = IntrusiveList<FileWatcher, FileWatcherTag>;
  Locked<List> list_{LockRank::file_watchers};
};

}  // namespace ingot::os
