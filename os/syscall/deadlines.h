// How long a call waits for files at most: the times that poll, select and epoll_wait hand over, as one of the clock.
#pragma once

#include <algorithm>
#include <optional>

#include "os/boot/kernel.h"
#include "os/process/user_thread.h"
#include "os/syscall/system_call.h"
#include "os/syscall/time_values.h"

namespace ingot::os {

using Until = std::optional<Nanoseconds>;  // none: for ever

inline Until sooner(Until left, Until right) {
  if (!left) return right;
  return right ? Until(std::min(*left, *right)) : left;
}

// A call that begins again after a signal waits no longer than it would have. What was kept for it is taken before
// anything can fail: the next call has nothing to do with it.
inline Until until_after_milliseconds(Caller& caller, std::int32_t milliseconds) {
  const Until kept = caller.thread.take_kept_deadline();
  if (milliseconds < 0 || kept) return kept;
  return later(caller.kernel.now(), Nanoseconds(std::int64_t{1'000'000} * milliseconds));
}
template <class Time>
Answer<Until> until_after(Caller& caller, UserPointer<Time> timeout, Answer<Nanoseconds> (Time::*duration)() const) {
  const Until kept = caller.thread.take_kept_deadline();
  if (timeout.is_null()) return Until();
  const Time time = TRY(timeout.read());
  const Nanoseconds wanted = TRY((time.*duration)());
  return kept ? kept : Until(later(caller.kernel.now(), wanted));
}

}  // namespace ingot::os
