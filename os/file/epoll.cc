#include "os/file/epoll.h"

#include <memory>

namespace ingot::os {

struct EpollFile::Item final : PollWaiter, FileWatcher, ListLink<ItemsTag>, ListLink<ReadyTag> {
  Item(EpollFile& epoll, Reference<FileDescription> watched, std::int32_t as, EpollInterest wanted)
      : FileWatcher(epoll), owner(epoll), file(std::move(watched)), number(as), interest(wanted) {}

  void notified(std::uint32_t) override { owner.mark_ready(*this); }

  EpollFile& owner;
  Reference<FileDescription> file;
  std::int32_t number;
  EpollInterest interest;
  std::optional<Nanoseconds> told_of;  // the time of a timer that was told already: an edge comes once
};

EpollFile::EpollFile(Allocator& heap, TimeSource& time, std::uint32_t flags)
    : FileDescription(flags | open_flag::read_write), heap_(heap), time_(time) {}

EpollFile::~EpollFile() {
  while (Item* item = items_.first()) drop(*item);
}

Answer<FileStatus> EpollFile::status() {
  FileStatus status;
  status.kind = FileKind::anonymous;
  status.permissions = 0600;
  return status;
}

void EpollFile::mark_ready(Item& item) {
  ready_.with([&](ReadyList& list) {
    if (!static_cast<ListLink<ReadyTag>&>(item).is_linked()) list.push_back(item);
  });
  source_.notify(poll_event::readable);
}

EpollFile::Item* EpollFile::find(FileDescription& file, std::int32_t number) {
  for (Item& item : items_) {
    if (item.file.get() == &file && item.number == number) return &item;
  }
  return nullptr;
}

// What holds of what was asked for; errors need not be asked for. One that told once and is done asks for nothing.
std::uint32_t EpollFile::events_of(Item& item) {
  const std::uint32_t wanted = item.interest.events & ~epoll_flag::all;
  return wanted == 0 ? 0 : item.file->poll() & (wanted | poll_event::always);
}

Answer<void> EpollFile::add(Reference<FileDescription> file, std::int32_t number, EpollInterest interest) {
  if (file.get() == this || file->as_epoll() != nullptr) return Errno::einval;  // no epoll in an epoll
  PollSource* source = file->poll_source();
  if (source == nullptr) return Errno::eperm;
  const MutexGuard guard(lock_);
  if (find(*file, number) != nullptr) return Errno::eexist;
  void* block = TRY(heap_.allocate(sizeof(Item), alignof(Item)));
  Item& item = *std::construct_at(static_cast<Item*>(block), *this, std::move(file), number, interest);
  items_.push_back(item);
  item.file->watchers().add(item);
  source->join(item);
  if (events_of(item) != 0) mark_ready(item);
  return {};
}

Answer<void> EpollFile::change(FileDescription& file, std::int32_t number, EpollInterest interest) {
  const MutexGuard guard(lock_);
  Item* item = find(file, number);
  if (item == nullptr) return Errno::enoent;
  item->interest = interest;
  item->told_of.reset();
  if (events_of(*item) != 0) mark_ready(*item);
  return {};
}

Answer<void> EpollFile::remove(FileDescription& file, std::int32_t number) {
  const MutexGuard guard(lock_);
  Item* item = find(file, number);
  if (item == nullptr) return Errno::enoent;
  drop(*item);
  return {};
}

void EpollFile::drop(Item& item) {
  item.file->poll_source()->leave(item);  // from here on nobody makes it ready
  ready_.with([&](ReadyList& list) {
    if (static_cast<ListLink<ReadyTag>&>(item).is_linked()) list.remove(item);
  });
  item.file->watchers().remove(item);
  items_.remove(item);
  std::destroy_at(&item);
  heap_.free(&item, sizeof(Item), alignof(Item));
}

// The last descriptor of a file went: it is not watched any more, under no number.
void EpollFile::forget_and_drop(FileDescription& file) {
  {
    const MutexGuard guard(lock_);
    for (Item* item = items_.first(); item != nullptr;) {
      Item* next = items_.after(*item);
      if (item->file.get() == &file) drop(*item);
      item = next;
    }
  }
  drop_reference();
}

// Files that become ready by time alone tell nobody: they are looked at.
void EpollFile::mark_timers() {
  const Nanoseconds now = time_.monotonic();
  for (Item& item : items_) {
    const std::optional<Nanoseconds> at = item.file->ready_at();
    if (!at || *at > now) continue;
    if ((item.interest.events & epoll_flag::edge) != 0 && item.told_of == at) continue;
    item.told_of = at;
    ready_.with([&](ReadyList& list) {
      if (!static_cast<ListLink<ReadyTag>&>(item).is_linked()) list.push_back(item);
    });
  }
}

Answer<std::size_t> EpollFile::collect(EpollSink& sink, std::size_t most) {
  const MutexGuard guard(lock_);
  mark_timers();
  // Each that is ready now is looked at once: those that stay ready go to the end of the list.
  std::size_t rounds = ready_.with([](ReadyList& list) { return list.count(); });
  std::size_t told = 0;
  while (rounds-- > 0 && told < most) {
    Item* item = ready_.with([](ReadyList& list) { return list.pop_front(); });
    if (item == nullptr) break;
    const std::uint32_t events = events_of(*item);
    if (events == 0) continue;
    const Answer<void> added = sink.add(events, item->interest.data);
    const bool again = !added.ok() || (item->interest.events & (epoll_flag::edge | epoll_flag::one_shot)) == 0;
    if (again) {
      ready_.with([&](ReadyList& list) {
        if (!static_cast<ListLink<ReadyTag>&>(*item).is_linked()) list.push_back(*item);
      });
    }
    if (!added.ok() && told == 0) return added.error();
    if (!added.ok()) break;
    if ((item->interest.events & epoll_flag::one_shot) != 0) item->interest.events &= epoll_flag::all;
    ++told;
  }
  return told;
}

std::uint32_t EpollFile::poll() {
  const MutexGuard guard(lock_);
  for (Item& item : items_) {
    if (events_of(item) != 0) return poll_event::readable;
  }
  return 0;
}

std::optional<Nanoseconds> EpollFile::ready_at() {
  const MutexGuard guard(lock_);
  const Nanoseconds now = time_.monotonic();
  std::optional<Nanoseconds> first;
  for (Item& item : items_) {
    const std::optional<Nanoseconds> at = item.file->ready_at();
    if (at && *at > now && (!first || *at < *first)) first = at;
  }
  return first;
}

}  // namespace ingot::os
