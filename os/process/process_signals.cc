// Who gets a signal, and who takes it.
#include <memory>

#include "os/boot/kernel.h"
#include "os/process/process.h"
#include "os/process/signal_frame.h"

namespace ingot::os {

UserThread* Process::Threads::find(std::uint32_t number) {
  for (UserThread& thread : living) {
    if (thread.number() == number) return &thread;
  }
  return nullptr;
}

// The bit is on exactly while something has come that the thread does not block.
void Process::look_for_signals(Threads& threads, UserThread& thread) {
  const ThreadSignals& own = thread.signals;
  const SignalSet come = (own.pending.set() | threads.pending.set()) & ~own.blocked;
  if (come.is_empty() && !own.fault) {
    thread.drop_work(program_work::signal);
  } else {
    thread.add_work(program_work::signal);
  }
}

// Each of the signals to a thread that does not block it, and rather to one that has nothing to do yet.
void Process::offer(Threads& threads, SignalSet signals, const UserThread* not_to) {
  for (const bool busy : {false, true}) {
    for (UserThread& thread : threads.living) {
      const SignalSet wanted = signals & ~thread.signals.blocked;
      if (&thread == not_to || wanted.is_empty() || thread.has_work() != busy) continue;
      signals = signals & ~wanted;
      thread.add_work(program_work::signal);
      tell(thread);
    }
  }
}

// Whom nothing would come of is not told. One that is blocked waits: its action may change.
bool Process::is_lost(Threads& threads, UserThread* to, Signal signal) {
  if (to == nullptr) to = threads.living.first();
  if (to == nullptr) return true;
  return threads.action(signal).ignores(signal) && !(to->signals.blocked | to->signals.waited_for).has(signal);
}

void Process::deliver(Threads& threads, UserThread* to, Signal signal) {
  if (signal == Signal::kill) return end_threads(threads, 128 + 9);
  if (to == nullptr) return offer(threads, SignalSet::of(signal), nullptr);
  if (to->signals.blocked.has(signal)) return;
  to->add_work(program_work::signal);
  tell(*to);
}

Answer<void> Process::send(const SignalInformation& information, std::uint32_t number) {
  const Signal signal = information.signal();
  Allocator& heap = kernel_.memory->heap();
  return threads_.with([&](Threads& threads) -> Answer<void> {
    UserThread* const to = number != 0 ? threads.find(number) : nullptr;
    if (number != 0 && to == nullptr) return Errno::esrch;
    if (signal == Signal::none || is_lost(threads, to, signal)) return {};
    PendingSignals& pending = to != nullptr ? to->signals.pending : threads.pending;
    const Result<void*> block = heap.allocate(sizeof(QueuedSignal), alignof(QueuedSignal));
    if (block.ok()) {
      pending.add(*std::construct_at(static_cast<QueuedSignal*>(block.value()), information, &heap));
    } else if (queues(signal)) {
      return Errno::eagain;
    } else {
      pending.add_bare(signal);
    }
    deliver(threads, to, signal);
    return {};
  });
}

bool Process::post(QueuedSignal& queued, std::uint32_t number) {
  const Signal signal = queued.information.signal();
  return threads_.with([&](Threads& threads) {
    UserThread* const to = number != 0 ? threads.find(number) : nullptr;
    if (queued.is_linked() || (number != 0 && to == nullptr) || is_lost(threads, to, signal)) return false;
    (to != nullptr ? to->signals.pending : threads.pending).add(queued);
    deliver(threads, to, signal);
    return queued.is_linked();
  });
}

void Process::withdraw(QueuedSignal& queued) {
  threads_.with([&](Threads& threads) {
    if (!queued.is_linked() || threads.pending.remove(queued)) return;
    for (UserThread& thread : threads.living) {
      if (thread.signals.pending.remove(queued)) return;
    }
  });
}

bool Process::send_fault(UserThread& thread, const SignalInformation& information) {
  const Signal signal = information.signal();
  return threads_.with([&](Threads& threads) {
    if (!threads.action(signal).has_handler() || thread.signals.blocked.has(signal)) return false;
    thread.signals.fault = information;
    thread.add_work(program_work::signal);
    return true;
  });
}

SignalAction Process::action_of(Signal signal) {
  return threads_.with([&](Threads& threads) { return threads.action(signal); });
}

SignalAction Process::exchange_action(Signal signal, const SignalAction& action) {
  return threads_.with([&](Threads& threads) {
    const SignalAction before = std::exchange(threads.action(signal), action);
    // What is ignored from now on is forgotten, also by those that block it (POSIX, sigaction).
    if (action.ignores(signal)) {
      threads.pending.forget(SignalSet::of(signal));
      for (UserThread& thread : threads.living) {
        thread.signals.pending.forget(SignalSet::of(signal));
        look_for_signals(threads, thread);
      }
    }
    return before;
  });
}

SignalSet Process::signals_with(std::uint64_t what) {
  return threads_.with([&](Threads& threads) {
    SignalSet set;
    for (std::uint32_t number = 1; number <= signal_count; ++number) {
      const SignalAction& action = threads.actions[number - 1];
      const bool counts = what == SignalAction::ignore ? action.handler == what : action.has_handler();
      if (counts) set.add(static_cast<Signal>(number));
    }
    return set;
  });
}

Answer<void> Process::set_signal_stack(UserThread& thread, const AlternateStack& stack) {
  return threads_.with([&](Threads& threads) -> Answer<void> {
    // As Linux does, the larger frames count from the moment that a program asked for what makes them larger.
    const std::uint64_t parts = threads.granted_parts;
    if (parts != 0 && !stack.has_room_for(arch::signal_frame_bytes(parts))) return Errno::enomem;
    thread.signals.stack = stack;
    return {};
  });
}

Answer<void> Process::grant_vector_parts(std::uint64_t parts) {
  return threads_.with([&](Threads& threads) -> Answer<void> {
    const std::uint64_t all = threads.granted_parts | parts;
    for (const UserThread& thread : threads.living) {
      if (!thread.signals.stack.has_room_for(arch::signal_frame_bytes(all))) return Errno::enospc;
    }
    threads.granted_parts = all;
    return {};
  });
}

std::uint64_t Process::granted_vector_parts() {
  return threads_.with([](Threads& threads) { return threads.granted_parts; });
}

void Process::set_blocked(UserThread& thread, SignalSet blocked, SignalSet waited_for) {
  threads_.with([&](Threads& threads) {
    const SignalSet newly = blocked & ~thread.signals.blocked;
    thread.signals.blocked = blocked & ~signals::never_blocked;
    thread.signals.waited_for = waited_for;
    look_for_signals(threads, thread);
    // What was meant for this one finds another.
    if (!(threads.pending.set() & newly).is_empty()) offer(threads, threads.pending.set() & newly, &thread);
  });
}

SignalSet Process::pending_for(UserThread& thread) {
  return threads_.with([&](Threads& threads) { return threads.pending.set() | thread.signals.pending.set(); });
}

bool Process::is_to_end(UserThread& thread) {
  return is_ending() || threads_.with([&](Threads& threads) {
    SignalSet come = (threads.pending.set() | thread.signals.pending.set()) & ~thread.signals.blocked;
    for (; !come.is_empty(); come.remove(come.lowest())) {
      if (threads.action(come.lowest()).ends_program(come.lowest())) return true;
    }
    return false;
  });
}

std::optional<Process::TakenSignal> Process::take_signal(UserThread& thread, SignalSet allowed, TakeFor purpose) {
  std::optional<TakenSignal> taken;
  threads_.with([&](Threads& threads) {
    ThreadSignals& own = thread.signals;
    Signal signal = Signal::none;
    if (own.fault) {
      signal = own.fault->signal();
      taken.emplace().information = *std::exchange(own.fault, std::nullopt);
    } else {
      SignalSet come = own.pending.set() & allowed;
      PendingSignals& from = come.is_empty() ? threads.pending : own.pending;
      if (come.is_empty()) come = threads.pending.set() & allowed;
      const SignalSet first = come & signals::of_faults;
      if (!come.is_empty()) {
        signal = (first.is_empty() ? come : first).lowest();
        taken.emplace();
        taken->timer = from.take(signal, taken->information);
      }
    }
    if (taken) {
      SignalAction& action = threads.action(signal);
      taken->action = action;
      if (purpose == TakeFor::handler && action.has_handler() && action.has(SignalAction::once)) {
        action.handler = SignalAction::by_default;
      }
    }
    look_for_signals(threads, thread);
  });
  if (taken && taken->timer != 0) timers_.arrived(taken->timer, taken->information);
  return taken;
}

}  // namespace ingot::os
