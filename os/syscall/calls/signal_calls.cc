// Signals: who sends them, what is done, when they may come (man 7 signal).
#include "os/boot/kernel.h"
#include "os/process/signal_frame.h"
#include "os/syscall/signal_mask.h"
#include "os/syscall/table.h"
#include "os/syscall/time_values.h"

namespace ingot::os {

namespace {

Answer<void> change_action(Caller& caller, std::uint32_t number, UserPointer<SignalAction> wanted,
                           UserPointer<SignalAction> before, std::uint64_t mask_bytes) {
  if (!is_signal(number) || mask_bytes != sizeof(SignalSet)) return Errno::einval;
  const auto signal = static_cast<Signal>(number);
  if (wanted.is_null()) return before.write_if_wanted(caller.process.action_of(signal));
  if (signals::never_blocked.has(signal)) return Errno::einval;
  SignalAction action = TRY(wanted.read());
  action.blocked = action.blocked & ~signals::never_blocked;
  const SignalAction old = caller.process.exchange_action(signal, action);
  if (old.ignores(signal) && !action.ignores(signal)) caller.process.timers().go_on();
  return before.write_if_wanted(old);
}

Answer<void> change_mask(Caller& caller, std::uint32_t how, UserPointer<SignalSet> wanted,
                         UserPointer<SignalSet> before, std::uint64_t mask_bytes) {
  constexpr std::uint32_t block = 0, unblock = 1, set = 2;  // SIG_BLOCK, SIG_UNBLOCK, SIG_SETMASK
  if (mask_bytes != sizeof(SignalSet)) return Errno::einval;
  const SignalSet old = caller.thread.signals.blocked;
  if (!wanted.is_null()) {
    const SignalSet mask = TRY(wanted.read());
    if (how > set) return Errno::einval;
    caller.process.set_blocked(caller.thread, how == block ? old | mask : how == unblock ? old & ~mask : mask);
  }
  return before.write_if_wanted(old);
}

Answer<void> get_pending(Caller& caller, UserPointer<SignalSet> place, std::uint64_t mask_bytes) {
  if (mask_bytes > sizeof(SignalSet)) return Errno::einval;
  const SignalSet pending = caller.process.pending_for(caller.thread) & caller.thread.signals.blocked;
  if (!copy_to_user(place.address, &pending, mask_bytes).ok()) return Errno::efault;
  return {};
}

Answer<void> wait_for_signal(Caller& caller) {
  caller.thread.wait({});
  return Errno::restart_without_handler;
}
Answer<void> suspend(Caller& caller, UserPointer<SignalSet> mask, std::uint64_t mask_bytes) {
  return with_mask(caller, mask, mask_bytes, [&] { return wait_for_signal(caller); });
}

// Takes one of the set instead of handling it.
Answer<std::int32_t> wait_for(Caller& caller, UserPointer<SignalSet> wanted, UserPointer<SignalInformation> place,
                              UserPointer<TimeSpecification> timeout, std::uint64_t mask_bytes) {
  const SignalSet set = TRY(read_mask(wanted, mask_bytes)) & ~signals::never_blocked;
  std::optional<Nanoseconds> deadline;
  if (!timeout.is_null()) {
    const TimeSpecification time = TRY(timeout.read());
    deadline = later(caller.kernel.now(), TRY(time.nanoseconds()));
  }
  Process& process = caller.process;
  UserThread& thread = caller.thread;
  std::optional<Process::TakenSignal> taken = process.take_signal(thread, set, Process::TakeFor::waiter);
  if (!taken) {
    const SignalSet before = thread.signals.blocked;
    process.set_blocked(thread, before & ~set, before & set);
    thread.wait(deadline);
    taken = process.take_signal(thread, set, Process::TakeFor::waiter);
    process.set_blocked(thread, before);
  }
  if (!taken) return deadline && *deadline <= caller.kernel.now() ? Errno::eagain : Errno::eintr;
  TRY(place.write_if_wanted(taken->information));
  return taken->information.number;
}

// There is one process: it is meant by its number, by its group, and by "all".
bool names_process(Caller& caller, std::int32_t process) {
  const auto own = static_cast<std::int32_t>(caller.process.number());
  return process == 0 || process == -1 || process == own || process == -own;
}
SignalInformation from_this_process(Caller& caller, std::uint32_t number, std::int32_t code) {
  return SignalInformation::of(static_cast<Signal>(number), code, caller.process.number());  // of the user 0
}

Answer<void> send_to_process(Caller& caller, std::int32_t process, std::uint32_t number) {
  if (number > signal_count) return Errno::einval;
  if (!names_process(caller, process)) return Errno::esrch;
  return caller.process.send(from_this_process(caller, number, signal_code::by_kill));
}
Answer<void> send_to_thread(Caller& caller, std::int32_t process, std::int32_t thread, std::uint32_t number) {
  if (number > signal_count || process <= 0 || thread <= 0) return Errno::einval;
  if (process != static_cast<std::int32_t>(caller.process.number())) return Errno::esrch;
  return caller.process.send(from_this_process(caller, number, signal_code::by_thread_kill),
                             static_cast<std::uint32_t>(thread));
}
Answer<void> send_to_any_thread(Caller& caller, std::int32_t thread, std::uint32_t number) {
  return send_to_thread(caller, static_cast<std::int32_t>(caller.process.number()), thread, number);
}

Answer<void> queue_to_process(Caller& caller, std::int32_t process, std::uint32_t number,
                              UserPointer<SignalInformation> from) {
  SignalInformation information = TRY(from.read());
  if (number > signal_count) return Errno::einval;
  if (process != static_cast<std::int32_t>(caller.process.number())) return Errno::esrch;
  information.number = static_cast<std::int32_t>(number);
  return caller.process.send(information);
}
Answer<void> queue_to_thread(Caller& caller, std::int32_t process, std::int32_t thread, std::uint32_t number,
                             UserPointer<SignalInformation> from) {
  SignalInformation information = TRY(from.read());
  if (number > signal_count || process <= 0 || thread <= 0) return Errno::einval;
  if (process != static_cast<std::int32_t>(caller.process.number())) return Errno::esrch;
  information.number = static_cast<std::int32_t>(number);
  return caller.process.send(information, static_cast<std::uint32_t>(thread));
}

Answer<void> set_stack(Caller& caller, const AlternateStack& wanted) {
  const AlternateStack& own = caller.thread.signals.stack;
  if (own.is_set() && own.holds(arch::stack_pointer_of(caller.registers).value())) return Errno::eperm;
  const std::uint32_t mode = wanted.flags & ~AlternateStack::disarms_itself;
  if (mode == AlternateStack::disabled) return caller.process.set_signal_stack(caller.thread, {});
  if (mode != 0 && mode != AlternateStack::in_use) return Errno::einval;
  if (wanted.bytes < AlternateStack::least_bytes) return Errno::enomem;
  return caller.process.set_signal_stack(
      caller.thread, {wanted.begin, wanted.flags & AlternateStack::disarms_itself, 0, wanted.bytes});
}
Answer<void> change_stack(Caller& caller, UserPointer<AlternateStack> wanted, UserPointer<AlternateStack> before) {
  const AlternateStack old = caller.thread.signals.stack.seen_from(arch::stack_pointer_of(caller.registers).value());
  if (!wanted.is_null()) {
    const AlternateStack stack = TRY(wanted.read());
    TRY(set_stack(caller, stack));
  }
  return before.write_if_wanted(old);
}

// The end of a handler. What its frame says is what goes on, so this call answers what that register held.
Answer<std::uint64_t> return_from_handler(Caller& caller) {
  UserThread& thread = caller.thread;
  const std::optional<arch::ReturnedSignalFrame> returned =
      arch::pop_signal_frame(caller.registers, thread.vectors(), thread.returned_vectors());
  if (returned) {
    caller.process.set_blocked(thread, returned->blocked);
    static_cast<void>(set_stack(caller, returned->stack));
    return arch::system_call_answer(caller.registers);
  }
  const auto no_frame = SignalInformation::of(Signal::no_memory_there, signal_code::by_kernel);
  if (caller.process.send_fault(thread, no_frame)) return std::uint64_t{0};
  caller.kernel.log.error("program: expected a signal's frame to return from, found none at ",
                          arch::stack_pointer_of(caller.registers));
  caller.process.end(128 + static_cast<int>(Signal::no_memory_there));
  return std::uint64_t{0};
}

// Calls that may be taken up again are simply asked for once more: nobody has one to restart by this name.
Answer<void> restart(Caller&) { return Errno::eintr; }

constexpr SystemCall rows[] = {
    system_call<&change_action>("rt_sigaction"),
    system_call<&change_mask>("rt_sigprocmask"),
    system_call<&get_pending>("rt_sigpending"),
    system_call<&suspend>("rt_sigsuspend"),
    system_call<&wait_for>("rt_sigtimedwait"),
    system_call<&wait_for_signal>("pause"),
    system_call<&send_to_process>("kill"),
    system_call<&send_to_thread>("tgkill"),
    system_call<&send_to_any_thread>("tkill"),
    system_call<&queue_to_process>("rt_sigqueueinfo"),
    system_call<&queue_to_thread>("rt_tgsigqueueinfo"),
    system_call<&change_stack>("sigaltstack"),
    system_call<&return_from_handler>("rt_sigreturn"),
    system_call<&restart>("restart_syscall"),
};

}  // namespace

std::span<const SystemCall> signal_calls() { return rows; }

}  // namespace ingot::os
