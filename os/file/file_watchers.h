// FileWatchers: those who keep a file for longer than a call (epolls), and let it go when its last descriptor goes.
#pragma once

#include "base/intrusive_list.h"
#include "os/schedule/locked.h"

namespace ingot::os {

class FileWatcher : public ListLink<struct FileWatcherTag> {
 public:
  // One more owner of the watcher, unless it is going already.
  virtual bool try_keep() = 0;
  // Gives up the file, and the ownership that try_keep gave.
  virtual void forget_and_drop() = 0;

 protected:
  ~FileWatcher() = default;
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
  void forget() {
    while (true) {
      FileWatcher* kept = list_.with([](List& list) -> FileWatcher* {
        FileWatcher* watcher = list.pop_front();
        while (watcher != nullptr && !watcher->try_keep()) watcher = list.pop_front();
        return watcher;
      });
      if (kept == nullptr) return;
      kept->forget_and_drop();
    }
  }

 private:
  using List = IntrusiveList<FileWatcher, FileWatcherTag>;
  Locked<List> list_{LockRank::file_watchers};
};

}  // namespace ingot::os
