// Waiting for several files: poll, select, epoll.
#include <algorithm>
#include <memory>

#include "os/file/epoll.h"
#include "os/syscall/file_arguments.h"
#include "os/syscall/file_wait.h"
#include "os/syscall/signal_mask.h"
#include "os/syscall/table.h"
#include "os/syscall/time_values.h"

namespace ingot::os {

namespace {

using Until = std::optional<Nanoseconds>;

Answer<Until> deadline_of_timeout(Caller& caller, UserPointer<TimeSpecification> timeout) {
  const Until kept = caller.thread.take_kept_deadline();
  if (timeout.is_null()) return Until();
  const TimeSpecification time = TRY(timeout.read());
  const Nanoseconds duration = TRY(time.nanoseconds());
  return kept ? kept : Until(later(caller.kernel.now(), duration));
}
Until deadline_of_milliseconds(Caller& caller, std::int32_t milliseconds) {
  const Until kept = caller.thread.take_kept_deadline();
  if (milliseconds < 0 || kept) return kept;
  return later(caller.kernel.now(), Nanoseconds(std::int64_t{1'000'000} * milliseconds));
}
Until sooner(Until left, Until right) {
  if (!left) return right;
  return right ? Until(std::min(*left, *right)) : left;
}

// One file that is waited for. Readiness is looked at without locks, as often as somebody says that it may have
// changed.
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
  ~WatchedFiles() {
    for (std::size_t i = 0; i < count_; ++i) std::destroy_at(&files_[i]);
    if (files_ != nullptr) heap_.free(files_, count_ * sizeof(Watched), alignof(Watched));
  }
  Answer<void> create(std::size_t count) {
    if (count == 0) return {};
    files_ = static_cast<Watched*>(TRY(heap_.allocate(count * sizeof(Watched), alignof(Watched))));
    count_ = count;
    for (std::size_t i = 0; i < count; ++i) std::construct_at(&files_[i]);
    return {};
  }
  std::span<Watched> files() { return {files_, count_}; }

  // How many have something to say.
  std::size_t look() {
    std::size_t ready = 0;
    for (Watched& it : files()) {
      if (it.file) it.found = it.file->poll() & (it.wanted | poll_event::always);
      if (it.found != 0) ++ready;
    }
    return ready;
  }
  // Until one has, or the time comes; none then. EINTR where a handler runs.
  Answer<std::size_t> wait(UserThread& thread, Nanoseconds now, Until deadline) {
    if (const std::size_t ready = look(); ready != 0 || (deadline && *deadline <= now)) return ready;
    FileWait wait(thread);
    for (Watched& it : files()) {
      if (it.file) it.place.join(wait, *it.file);
    }
    while (true) {
      std::size_t ready = look();
      if (ready == 0) {
        Until until = deadline;
        for (Watched& it : files()) {
          if (it.file) until = sooner(until, it.file->ready_at());
        }
        const Answer<void> slept = wait.sleep(until);
        if (slept.ok()) continue;
        if (slept.error() == Errno::etimedout && until != deadline) continue;
        ready = look();
        if (ready == 0 && slept.error() != Errno::etimedout) {
          leave();
          if (deadline) thread.keep_deadline(*deadline);
          return Errno::restart_without_handler;
        }
      }
      leave();
      return ready;
    }
  }

 private:
  void leave() {  // before `wait` goes
    for (Watched& it : files()) it.place.leave();
  }

  Allocator& heap_;
  Watched* files_ = nullptr;
  std::size_t count_ = 0;
};

// struct pollfd.
struct PollEntry {
  std::int32_t descriptor;
  std::uint16_t wanted, found;
};

Answer<std::uint64_t> poll_until(Caller& caller, UserPointer<PollEntry> entries, std::uint64_t count, Until deadline) {
  ProcessFiles& files = files_of(caller);
  if (count > files.descriptors().limit()) return Errno::einval;
  WatchedFiles watched(files.heap());
  TRY(watched.create(count));
  for (std::uint64_t i = 0; i < count; ++i) {
    const PollEntry entry = TRY(entries.at(i).read());
    Watched& it = watched.files()[i];
    it.wanted = entry.wanted;
    if (entry.descriptor < 0) continue;
    Answer<Reference<FileDescription>> file = files.descriptors().find(entry.descriptor);
    if (file.ok()) it.file = std::move(file).value();
    if (!file.ok()) it.found = poll_event::invalid;
  }
  const std::size_t ready = TRY(watched.wait(caller.thread, caller.kernel.now(), deadline));
  for (std::uint64_t i = 0; i < count; ++i) {
    const UserPointer<std::uint16_t> found{entries.at(i).address + offsetof(PollEntry, found)};
    TRY(found.write(static_cast<std::uint16_t>(watched.files()[i].found)));
  }
  return std::uint64_t{ready};
}
Answer<std::uint64_t> poll(Caller& caller, UserPointer<PollEntry> entries, std::uint32_t count,
                           std::int32_t milliseconds) {
  return poll_until(caller, entries, count, deadline_of_milliseconds(caller, milliseconds));
}
Answer<std::uint64_t> poll_with(Caller& caller, UserPointer<PollEntry> entries, std::uint32_t count,
                                UserPointer<TimeSpecification> timeout, UserPointer<SignalSet> mask,
                                std::uint64_t mask_bytes) {
  const Until deadline = TRY(deadline_of_timeout(caller, timeout));
  return with_mask(caller, mask, mask_bytes, [&] { return poll_until(caller, entries, count, deadline); });
}

// select: three sets of bits, one for each of what poll calls readable, writable, urgent.
constexpr std::uint32_t most_selected = 1024;
struct SelectSets {
  std::uint64_t bits[3][most_selected / 64];
};
struct SelectMeaning {
  std::uint32_t wanted, found;
};
constexpr SelectMeaning meanings[3] = {
    {poll_event::readable, poll_event::readable | poll_event::hang_up | poll_event::error},
    {poll_event::writable, poll_event::writable | poll_event::error},
    {poll_event::urgent, poll_event::urgent}};

Answer<std::uint64_t> select_until(Caller& caller, std::uint32_t count, const VirtualAddress (&sets)[3],
                                   Until deadline) {
  if (count > most_selected) count = most_selected;
  const std::uint64_t bytes = (count + 63) / 64 * 8;
  SelectSets asked{}, told{};
  for (unsigned set = 0; set < 3; ++set) {
    if (sets[set] == VirtualAddress(0)) continue;
    if (!copy_from_user(asked.bits[set], sets[set], bytes).ok()) return Errno::efault;
  }
  ProcessFiles& files = files_of(caller);
  WatchedFiles watched(files.heap());
  TRY(watched.create(count));
  for (std::uint32_t number = 0; number < count; ++number) {
    Watched& it = watched.files()[number];
    for (unsigned set = 0; set < 3; ++set) {
      if ((asked.bits[set][number / 64] >> (number % 64) & 1) != 0) it.wanted |= meanings[set].wanted;
    }
    if (it.wanted != 0) it.file = TRY(files.descriptors().find(static_cast<std::int32_t>(number)));
  }
  TRY(watched.wait(caller.thread, caller.kernel.now(), deadline));
  std::uint64_t found = 0;
  for (std::uint32_t number = 0; number < count; ++number) {
    for (unsigned set = 0; set < 3; ++set) {
      const bool wanted = (asked.bits[set][number / 64] >> (number % 64) & 1) != 0;
      if (!wanted || (watched.files()[number].found & meanings[set].found) == 0) continue;
      told.bits[set][number / 64] |= std::uint64_t{1} << (number % 64);
      ++found;
    }
  }
  for (unsigned set = 0; set < 3; ++set) {
    if (sets[set] == VirtualAddress(0)) continue;
    if (!copy_to_user(sets[set], told.bits[set], bytes).ok()) return Errno::efault;
  }
  return found;
}
Answer<std::uint64_t> select(Caller& caller, std::uint32_t count, VirtualAddress readable, VirtualAddress writable,
                             VirtualAddress urgent, UserPointer<TimeValue> timeout) {
  const Until kept = caller.thread.take_kept_deadline();
  Until deadline;
  if (!timeout.is_null()) {
    const TimeValue time = TRY(timeout.read());
    if (time.microsecond_part < 0) return Errno::einval;
    const TimeSpecification same{time.seconds + time.microsecond_part / 1'000'000,
                                 time.microsecond_part % 1'000'000 * 1000};
    const Nanoseconds duration = TRY(same.nanoseconds());
    deadline = kept ? kept : later(caller.kernel.now(), duration);
  }
  return select_until(caller, count, {readable, writable, urgent}, deadline);
}
// The sixth and last argument has to carry two.
struct SizedMask {
  std::uint64_t mask, bytes;
};
Answer<std::uint64_t> select_with(Caller& caller, std::uint32_t count, VirtualAddress readable, VirtualAddress writable,
                                  VirtualAddress urgent, UserPointer<TimeSpecification> timeout,
                                  UserPointer<SizedMask> mask) {
  const Until deadline = TRY(deadline_of_timeout(caller, timeout));
  SizedMask wanted{};
  if (!mask.is_null()) wanted = TRY(mask.read());
  return with_mask(caller, {VirtualAddress(wanted.mask)}, wanted.bytes,
                   [&] { return select_until(caller, count, {readable, writable, urgent}, deadline); });
}

// struct epoll_event, which x86_64 packs.
struct [[gnu::packed]] EpollEntry {
  std::uint32_t events;
  std::uint64_t data;
};

Answer<std::int32_t> epoll_create_with(Caller& caller, std::uint32_t flags) {
  if ((flags & ~open_flag::close_on_execute) != 0) return Errno::einval;
  ProcessFiles& files = files_of(caller);
  Reference<FileDescription> file =
      TRY(make_reference<EpollFile>(files.heap(), files.heap(), *files.services().time, 0u));
  return files.descriptors().add(std::move(file), flags != 0 ? OnExecute::closes : OnExecute::keeps);
}
Answer<std::int32_t> epoll_create(Caller& caller, std::int32_t size) {
  if (size <= 0) return Errno::einval;
  return epoll_create_with(caller, 0);
}

Answer<void> epoll_control(Caller& caller, std::int32_t epoll, std::uint32_t operation, std::int32_t descriptor,
                           UserPointer<EpollEntry> entry) {
  constexpr std::uint32_t add = 1, remove = 2, change = 3;
  const Reference<FileDescription> set = TRY(file_of(caller, epoll));
  Reference<FileDescription> file = TRY(file_of(caller, descriptor));
  EpollFile* const watching = set->as_epoll();
  if (watching == nullptr) return Errno::einval;
  if (operation == remove) return watching->remove(*file, descriptor);
  const EpollEntry wanted = TRY(entry.read());
  const EpollInterest interest{wanted.events | poll_event::always, wanted.data};
  if (operation == add) return watching->add(std::move(file), descriptor, interest);
  if (operation == change) return watching->change(*file, descriptor, interest);
  return Errno::einval;
}

class EpollWriter final : public EpollSink {
 public:
  explicit EpollWriter(UserPointer<EpollEntry> to) : to_(to) {}
  Answer<void> add(std::uint32_t events, std::uint64_t data) override {
    TRY(to_.write({events, data}));
    to_ = to_.at(1);
    return {};
  }

 private:
  UserPointer<EpollEntry> to_;
};

Answer<std::uint64_t> epoll_until(Caller& caller, std::int32_t epoll, UserPointer<EpollEntry> entries,
                                  std::int32_t most, Until deadline) {
  if (most <= 0) return Errno::einval;
  const Reference<FileDescription> set = TRY(file_of(caller, epoll));
  EpollFile* const watching = set->as_epoll();
  if (watching == nullptr) return Errno::einval;
  FileWait wait(caller.thread);
  FileWait::Place place;
  place.join(wait, *set);
  while (true) {
    EpollWriter writer(entries);
    const std::size_t told = TRY(watching->collect(writer, static_cast<std::size_t>(most)));
    if (told != 0 || (deadline && *deadline <= caller.kernel.now())) return std::uint64_t{told};
    const Answer<void> slept = wait.sleep(sooner(deadline, watching->ready_at()));
    if (!slept.ok() && slept.error() != Errno::etimedout) return Errno::eintr;
  }
}
Answer<std::uint64_t> epoll_wait(Caller& caller, std::int32_t epoll, UserPointer<EpollEntry> entries, std::int32_t most,
                                 std::int32_t milliseconds) {
  return epoll_until(caller, epoll, entries, most, deadline_of_milliseconds(caller, milliseconds));
}
Answer<std::uint64_t> epoll_wait_with(Caller& caller, std::int32_t epoll, UserPointer<EpollEntry> entries,
                                      std::int32_t most, std::int32_t milliseconds, UserPointer<SignalSet> mask,
                                      std::uint64_t mask_bytes) {
  return with_mask(caller, mask, mask_bytes, [&] { return epoll_wait(caller, epoll, entries, most, milliseconds); });
}

constexpr SystemCall rows[] = {
    system_call<&poll>("poll"),
    system_call<&poll_with>("ppoll"),
    system_call<&select>("select"),
    system_call<&select_with>("pselect6"),
    system_call<&epoll_create_with>("epoll_create1"),
    system_call<&epoll_create>("epoll_create"),
    system_call<&epoll_control>("epoll_ctl"),
    system_call<&epoll_wait>("epoll_wait"),
    system_call<&epoll_wait_with>("epoll_pwait"),
};

}  // namespace

std::span<const SystemCall> poll_calls() { return rows; }

}  // namespace ingot::os
