// Masks of signals as calls hand them over, and calls that wait with a mask of their own.
#pragma once

#include "os/process/process.h"
#include "os/syscall/system_call.h"

namespace ingot::os {

// Its size comes along: 8 bytes, or EINVAL.
inline Answer<SignalSet> read_mask(UserPointer<SignalSet> mask, std::uint64_t bytes) {
  if (bytes != sizeof(SignalSet)) return Errno::einval;
  return mask.read();
}

// ppoll and its kin: the mask holds while `call` waits. Where a signal ended the wait, it holds until the handler is
// chosen, so that a signal which only this mask lets through is not shut out again.
template <class Call>
auto with_mask(Caller& caller, UserPointer<SignalSet> mask, std::uint64_t bytes, Call&& call) -> decltype(call()) {
  if (mask.is_null()) return call();
  const SignalSet wanted = TRY(read_mask(mask, bytes));
  UserThread& thread = caller.thread;
  thread.signals.blocked_before = thread.signals.blocked;
  caller.process.set_blocked(thread, wanted);
  auto answer = call();
  const bool interrupted =
      !answer.ok() && (answer.error() == Errno::eintr || answer.error() == Errno::restart_without_handler);
  if (interrupted) {
    thread.add_work(program_work::restart);
  } else {
    caller.process.set_blocked(thread, *std::exchange(thread.signals.blocked_before, std::nullopt));
  }
  return answer;
}

}  // namespace ingot::os
