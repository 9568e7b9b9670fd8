#include "os/file/channels/epoll.h"

#include <memory>
#include <utility>

namespace ingot::os {

struct EpollFile::Item final : PollWaiter,
                               FileWatcher,
                               ListLink<ItemsTag>,
                               HashLink<ItemsTag>,
                               ListLink<TimedTag>,
                               ListLink<ReadyTag> {
  Item(EpollFile& epoll, Reference<FileDescription> watched, std::int32_t as, EpollInterest wanted)
      : FileWatcher(epoll),
        owner(epoll),
        file(std::move(watched)),
        number(as),
        events(wanted.events),
        data(wanted.data) {}

  // Who watches for what arrives is not woken, and told of an old arrival again, by room to send.
  void notified(std::uint32_t hint) override {
    if ((hint & wanted()) != 0) owner.mark_ready(*this);
  }
  std::uint32_t wanted() const { return events.load(MemoryOrder::relaxed); }
  bool is(std::uint32_t flag) const { return (wanted() & flag) != 0; }

  EpollFile& owner;
  Reference<FileDescription> file;
  std::int32_t number;
  Atomic<std::uint32_t> events;  // poll_event and epoll_flag
  std::uint64_t data;
  bool was_due = false;  // at the last look its time had come: an edge of a timer comes once
};

class [[nodiscard]] EpollFile::Guard {
 public:
  explicit Guard(EpollFile& epoll) : mutex_(epoll.lock_) {
    if (epoll.nesting_.load(MemoryOrder::relaxed) < 0) {
      mutex_.lock_as(LockRank::held_epoll);
    } else {
      mutex_.lock();
    }
  }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;
  ~Guard() { mutex_.unlock(); }

 private:
  Mutex& mutex_;
};

EpollFile::EpollFile(Allocator& heap, TimeSource& time, std::uint32_t flags)
    : FileDescription(flags | open_flag::read_write), heap_(heap), time_(time), by_file_(heap) {}

EpollFile::~EpollFile() {
  while (Item* item = items_.first()) drop(*item);
}

Answer<FileStatus> EpollFile::status() { return anonymous_status(); }

bool EpollFile::put(ReadyList& list, Item& item) {
  if (static_cast<ListLink<ReadyTag>&>(item).is_linked()) return false;
  list.push_back(item);
  return true;
}

void EpollFile::mark_ready(Item& item) {
  ready_.with([&](ReadyList& list) { put(list, item); });
  tell();
}

// Holders are not told by a holder: it may have been told itself, under the lock of another's list. Who becomes held is
// looked at by its holder afterwards.
void EpollFile::tell() {
  source_.notify(poll_event::readable);
  if (nesting_.load(MemoryOrder::acquire) < 0) holders_.notify(poll_event::readable);
}

// Counts on from 0 in one direction alone.
static bool count_towards(Atomic<std::int32_t>& count, std::int32_t step) {
  std::int32_t found = count.load(MemoryOrder::relaxed);
  while (found * step >= 0) {
    if (count.compare_exchange(found, found + step, MemoryOrder::acquire_release)) return true;
  }
  return false;
}

bool EpollFile::hold(EpollFile& inner) {
  if (!count_towards(nesting_, 1)) return false;
  if (count_towards(inner.nesting_, -1)) return true;
  nesting_.fetch_subtract(1, MemoryOrder::release);
  return false;
}

void EpollFile::let_go(EpollFile& inner) {
  nesting_.fetch_subtract(1, MemoryOrder::release);
  inner.nesting_.fetch_add(1, MemoryOrder::release);
}

PollSource* EpollFile::source_of(FileDescription& file) {
  return file.as_epoll() != nullptr ? &file.as_epoll()->holders_ : file.poll_source();
}

EpollFile::Item* EpollFile::find(FileDescription& file, std::int32_t number) {
  return by_file_.find(hash_of_address(&file),
                       [&](const Item& item) { return item.file.get() == &file && item.number == number; });
}

// What holds of what was asked for; errors need not be asked for. One that told once and is done asks for nothing.
std::uint32_t EpollFile::events_of(Item& item) {
  const std::uint32_t wanted = item.wanted() & ~epoll_flag::all;
  return wanted == 0 ? 0 : item.file->poll() & (wanted | poll_event::always);
}

Answer<void> EpollFile::add(const Reference<FileDescription>& file, std::int32_t number, EpollInterest interest) {
  EpollFile* const inner = file->as_epoll();
  if (inner == this || (inner != nullptr && (interest.events & epoll_flag::exclusive) != 0)) return Errno::einval;
  if (inner != nullptr && !hold(*inner)) return Errno::eloop;
  const Answer<void> inserted = insert(file, number, interest);
  if (inner != nullptr && !inserted.ok()) let_go(*inner);
  return inserted;
}

Answer<void> EpollFile::insert(const Reference<FileDescription>& file, std::int32_t number, EpollInterest interest) {
  PollSource* source = source_of(*file);
  if (source == nullptr) return Errno::eperm;
  const Guard guard(*this);
  if (find(*file, number) != nullptr) return Errno::eexist;
  void* block = TRY(heap_.allocate(sizeof(Item), alignof(Item)));
  Item& item = *std::construct_at(static_cast<Item*>(block), *this, file, number, interest);
  items_.push_back(item);
  by_file_.insert(item, hash_of_address(item.file.get()));
  const bool is_silent = item.file->as_timer() != nullptr || item.file->as_epoll() != nullptr;
  const bool is_timed = is_silent || item.file->ready_at();
  if (is_timed) timed_.push_back(item);
  item.file->watchers().add(item);
  source->join(item);
  if (events_of(item) != 0) {
    mark_ready(item);
  } else if (is_timed) {
    tell();  // who sleeps may have to wake earlier
  }
  // Another thread may have closed the last descriptor before there was a watcher to tell.
  if (!item.file->has_descriptors()) drop(item);
  return {};
}

Answer<void> EpollFile::change(FileDescription& file, std::int32_t number, EpollInterest interest) {
  const Guard guard(*this);
  Item* item = find(file, number);
  if (item == nullptr) return Errno::enoent;
  // Before looking: a file that changes now finds it, or is found changed.
  item->events.store(interest.events, MemoryOrder::relaxed);
  item->data = interest.data;
  item->was_due = false;
  if (events_of(*item) != 0) mark_ready(*item);
  return {};
}

Answer<void> EpollFile::remove(FileDescription& file, std::int32_t number) {
  const Guard guard(*this);
  Item* item = find(file, number);
  if (item == nullptr) return Errno::enoent;
  drop(*item);
  return {};
}

void EpollFile::drop(Item& item) {
  source_of(*item.file)->leave(item);  // from here on nobody makes it ready
  ready_.with([&](ReadyList& list) {
    if (static_cast<ListLink<ReadyTag>&>(item).is_linked()) list.remove(item);
  });
  item.file->watchers().remove(item);
  if (static_cast<ListLink<TimedTag>&>(item).is_linked()) timed_.remove(item);
  by_file_.remove(item);
  items_.remove(item);
  if (EpollFile* const inner = item.file->as_epoll()) let_go(*inner);
  std::destroy_at(&item);
  heap_.free(&item, sizeof(Item), alignof(Item));
}

// The last descriptor of a file went: it is not watched any more, under no number.
void EpollFile::forget_and_drop(FileDescription& file) {
  {
    const Guard guard(*this);
    const auto of_file = [&](const Item& item) { return item.file.get() == &file; };
    while (Item* item = by_file_.find(hash_of_address(&file), of_file)) drop(*item);
  }
  drop_reference();
}

void EpollFile::mark_timers() {
  const Nanoseconds now = time_.monotonic();
  for (Item& item : timed_) {
    if (item.file->as_epoll() != nullptr) {
      item.file->poll();  // it tells those that hold it what time made ready
      continue;
    }
    const bool is_timer = item.file->as_timer() != nullptr;  // else a terminal without interrupts: nobody else asks it
    const std::optional<Nanoseconds> at = is_timer ? std::nullopt : item.file->ready_at();
    const bool was_due = std::exchange(item.was_due, is_timer ? item.file->poll() != 0 : at && *at <= now);
    const bool is_told = was_due && item.is(epoll_flag::edge);
    if (is_timer && (!item.was_due || is_told)) continue;
    if (events_of(item) == 0) continue;
    // Others may be about to sleep: they looked before it was due, and ask for a time after this.
    if (ready_.with([&](ReadyList& list) { return put(list, item); })) tell();
  }
}

Answer<std::size_t> EpollFile::collect(EpollSink& sink, std::size_t most) {
  const Guard guard(*this);
  mark_timers();
  // Each that is ready now is looked at once: those that stay ready, or become so, stand behind `last`.
  Item* const last = ready_.with([](ReadyList& list) { return list.last(); });
  std::size_t told = 0;
  for (Item* item = nullptr; last != nullptr && item != last && told < most;) {
    item = ready_.with([](ReadyList& list) { return list.pop_front(); });
    const std::uint32_t events = events_of(*item);
    if (events == 0) continue;
    const Answer<void> added = sink.add(events, item->data);
    const bool again = !added.ok() || !item->is(epoll_flag::edge | epoll_flag::one_shot);
    if (again) ready_.with([&](ReadyList& list) { put(list, *item); });
    if (!added.ok() && told == 0) return added.error();
    if (!added.ok()) break;
    if (item->is(epoll_flag::one_shot)) item->events.store(item->wanted() & epoll_flag::all, MemoryOrder::relaxed);
    ++told;
  }
  return told;
}

// Those that said something and have nothing to say any more leave the list; the first that has ends the search.
std::uint32_t EpollFile::poll() {
  const Guard guard(*this);
  mark_timers();
  while (true) {
    Item* const item = ready_.with([](ReadyList& list) { return list.pop_front(); });
    if (item == nullptr) return 0;
    if (events_of(*item) == 0) continue;
    ready_.with([&](ReadyList& list) {
      if (!static_cast<ListLink<ReadyTag>&>(*item).is_linked()) list.push_front(*item);
    });
    return poll_event::readable;
  }
}

// The first time of those that were not due at the last look. It may be past: then there is to look again at once.
std::optional<Nanoseconds> EpollFile::ready_at() {
  const Guard guard(*this);
  std::optional<Nanoseconds> first;
  for (Item& item : timed_) {
    const std::optional<Nanoseconds> at = item.file->ready_at();
    if (at && !item.was_due && (!first || *at < *first)) first = at;
  }
  return first;
}

}  // namespace ingot::os
