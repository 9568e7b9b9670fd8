// epoll: waiting for files that the kernel remembers from call to call.
#include "os/file/channels/epoll.h"
#include "os/syscall/deadlines.h"
#include "os/syscall/file_arguments.h"
#include "os/syscall/file_wait.h"
#include "os/syscall/signal_mask.h"
#include "os/syscall/table.h"

namespace ingot::os {

namespace {

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
  constexpr std::uint32_t add = 1, remove = 2, change = 3;  // EPOLL_CTL_ADD, EPOLL_CTL_DEL, EPOLL_CTL_MOD
  const Reference<FileDescription> set = TRY(file_of(caller, epoll));
  const Reference<FileDescription> file = TRY(file_of(caller, descriptor));
  EpollFile* const watching = set->as_epoll();
  if (watching == nullptr) return Errno::einval;
  if (operation == remove) return watching->remove(*file, descriptor);
  const EpollEntry wanted = TRY(entry.read());
  const EpollInterest interest{wanted.events | poll_event::always, wanted.data};
  if (operation == add) return watching->add(file, descriptor, interest);
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
  return epoll_until(caller, epoll, entries, most, until_after_milliseconds(caller, milliseconds));
}
Answer<std::uint64_t> epoll_wait_with(Caller& caller, std::int32_t epoll, UserPointer<EpollEntry> entries,
                                      std::int32_t most, std::int32_t milliseconds, UserPointer<SignalSet> mask,
                                      std::uint64_t mask_bytes) {
  return with_mask(caller, mask, mask_bytes, [&] { return epoll_wait(caller, epoll, entries, most, milliseconds); });
}

constexpr SystemCall rows[] = {
    system_call<&epoll_create_with>("epoll_create1"), system_call<&epoll_create>("epoll_create"),
    system_call<&epoll_control>("epoll_ctl"),         system_call<&epoll_wait>("epoll_wait"),
    system_call<&epoll_wait_with>("epoll_pwait"),
};

}  // namespace

std::span<const SystemCall> epoll_calls() { return rows; }

}  // namespace ingot::os
