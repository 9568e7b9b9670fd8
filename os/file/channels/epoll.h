// An epoll: a set of files, of which it remembers those that said something.
//
//   a file changes --> its source tells our item --> the item joins `ready` --> whoever waits for the epoll is told
//   wait() asks each ready file again what holds; a level-triggered one stays ready while something does
//
// So a wait costs by the files that said something, not by those that are watched.
//
// An epoll may be in others, as long as it has none itself: then it tells those that hold it as a file would, and is
// asked under their locks. One is a holder or held, never both, so every order of locks goes from holders to held.
#pragma once

#include <cstdint>

#include "base/atomic.h"
#include "base/intrusive_list.h"
#include "os/file/file_description.h"
#include "os/file/hash_table.h"
#include "os/file/volume.h"

namespace ingot::os {

namespace epoll_flag {
inline constexpr std::uint32_t exclusive = 1u << 28;  // EPOLLEXCLUSIVE
inline constexpr std::uint32_t wake_up = 1u << 29;    // EPOLLWAKEUP
inline constexpr std::uint32_t one_shot = 1u << 30;   // EPOLLONESHOT
inline constexpr std::uint32_t edge = 1u << 31;       // EPOLLET
inline constexpr std::uint32_t all = exclusive | wake_up | one_shot | edge;
}  // namespace epoll_flag

struct EpollInterest {
  std::uint32_t events = 0;  // poll_event and epoll_flag
  std::uint64_t data = 0;    // the program's own
};

class EpollSink {
 public:
  virtual Answer<void> add(std::uint32_t events, std::uint64_t data) = 0;

 protected:
  ~EpollSink() = default;
};

class EpollFile final : public FileDescription, private FileKeeper {
 public:
  EpollFile(Allocator& heap, TimeSource& time, std::uint32_t flags);
  ~EpollFile();

  // A file is watched under one number; EEXIST, ENOENT. EPERM: it is always ready, so that waiting makes no sense.
  // ELOOP: an epoll that has others, or one for an epoll that is in another.
  Answer<void> add(const Reference<FileDescription>& file, std::int32_t number, EpollInterest interest);
  Answer<void> change(FileDescription& file, std::int32_t number, EpollInterest interest);
  Answer<void> remove(FileDescription& file, std::int32_t number);
  // Gives at most `most` files that have something to say to the sink; does not wait.
  Answer<std::size_t> collect(EpollSink& sink, std::size_t most);

  Answer<FileStatus> status() override;
  std::uint32_t poll() override;
  PollSource* poll_source() override { return &source_; }
  std::optional<Nanoseconds> ready_at() override;
  std::string_view anonymous_name() const override { return "anon_inode:[eventpoll]"; }
  EpollFile* as_epoll() override { return this; }

 private:
  struct Item;
  class Guard;
  struct ItemsTag;
  struct TimedTag;
  struct ReadyTag;
  using ReadyList = IntrusiveList<Item, ReadyTag>;

  bool try_keep() override { return try_add_reference(); }
  void forget_and_drop(FileDescription& file) override;

  Item* find(FileDescription& file, std::int32_t number);
  Answer<void> insert(const Reference<FileDescription>& file, std::int32_t number, EpollInterest interest);
  static PollSource* source_of(FileDescription& file);
  bool hold(EpollFile& inner);
  void let_go(EpollFile& inner);
  static bool put(ReadyList& list, Item& item);
  void mark_ready(Item& item);
  void tell();
  std::uint32_t events_of(Item& item);
  void mark_timers();
  void drop(Item& item);

  Allocator& heap_;
  TimeSource& time_;
  Mutex lock_{LockRank::file_position};  // the items; the files that they name have locks of their own
  IntrusiveList<Item, ItemsTag> items_;
  HashTable<Item, ItemsTag> by_file_;
  IntrusiveList<Item, TimedTag> timed_;  // those that become ready without telling anybody: by time, or when looked at
  Locked<ReadyList, SharedWith::interrupts> ready_{LockRank::epoll};
  PollSource source_{LockRank::epoll_poll};
  PollSource holders_{LockRank::epoll_holders};  // items of other epolls
  Atomic<std::int32_t> nesting_;                 // above 0: how many epolls are in it; below: in how many it is
};

}  // namespace ingot::os
