// select and pselect6: waiting for files by sets of their numbers.
#include "os/syscall/file_arguments.h"
#include "os/syscall/signal_mask.h"
#include "os/syscall/table.h"
#include "os/syscall/watched_files.h"

namespace ingot::os {

namespace {

// Three sets of bits, one for each of what poll calls readable, writable, urgent.
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
  if (static_cast<std::int32_t>(count) < 0) return Errno::einval;
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
  const Until deadline = TRY(until_after(caller, timeout, &TimeValue::duration));
  return select_until(caller, count, {readable, writable, urgent}, deadline);
}
// The sixth and last argument has to carry two.
struct SizedMask {
  std::uint64_t mask, bytes;
};
Answer<std::uint64_t> select_with(Caller& caller, std::uint32_t count, VirtualAddress readable, VirtualAddress writable,
                                  VirtualAddress urgent, UserPointer<TimeSpecification> timeout,
                                  UserPointer<SizedMask> mask) {
  const Until deadline = TRY(until_after(caller, timeout, &TimeSpecification::nanoseconds));
  SizedMask wanted{};
  if (!mask.is_null()) wanted = TRY(mask.read());
  return with_mask(caller, {VirtualAddress(wanted.mask)}, wanted.bytes,
                   [&] { return select_until(caller, count, {readable, writable, urgent}, deadline); });
}

constexpr SystemCall rows[] = {
    system_call<&select>("select"),
    system_call<&select_with>("pselect6"),
};

}  // namespace

std::span<const SystemCall> select_calls() { return rows; }

}  // namespace ingot::os
