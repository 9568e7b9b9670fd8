// poll and ppoll: waiting for files by a list of them.
#include "os/syscall/file_arguments.h"
#include "os/syscall/signal_mask.h"
#include "os/syscall/table.h"
#include "os/syscall/watched_files.h"

namespace ingot::os {

namespace {

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
  return poll_until(caller, entries, count, until_after_milliseconds(caller, milliseconds));
}
Answer<std::uint64_t> poll_with(Caller& caller, UserPointer<PollEntry> entries, std::uint32_t count,
                                UserPointer<TimeSpecification> timeout, UserPointer<SignalSet> mask,
                                std::uint64_t mask_bytes) {
  const Until deadline = TRY(until_after(caller, timeout, &TimeSpecification::nanoseconds));
  return with_mask(caller, mask, mask_bytes, [&] { return poll_until(caller, entries, count, deadline); });
}

constexpr SystemCall rows[] = {
    system_call<&poll>("poll"),
    system_call<&poll_with>("ppoll"),
};

}  // namespace

std::span<const SystemCall> poll_calls() { return rows; }

}  // namespace ingot::os
