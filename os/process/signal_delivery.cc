// What happens to a program's thread before it goes on in ring 3, where something came up.
#include "os/boot/kernel.h"
#include "os/process/process.h"
#include "os/process/signal_frame.h"

namespace ingot::os {

// The call was interrupted, or had a mask of its own. handler: the first one that runs, if one does.
void UserThread::finish_call(arch::TrapFrame& frame, const SignalAction* handler) {
  const std::uint64_t answer = arch::system_call_answer(frame);
  const bool may_restart = answer == answer_of(Errno::restart), restarts = answer == answer_of(Errno::restart_always);
  if (!may_restart && !restarts && answer != answer_of(Errno::restart_without_handler)) return;
  if (handler == nullptr || restarts || (may_restart && handler->has(SignalAction::restart))) {
    return arch::repeat_system_call(frame);
  }
  kept_deadline_.reset();
  arch::set_system_call_answer(frame, answer_of(Errno::eintr));
}

// False: the handler cannot run.
bool UserThread::run_handler(arch::TrapFrame& frame, const SignalInformation& information, const SignalAction& action) {
  const SignalSet before = signals.blocked_before.value_or(signals.blocked);
  if (!arch::push_signal_frame(frame, vectors(), {information, action, before, signals.stack})) return false;
  if ((signals.stack.flags & AlternateStack::disarms_itself) != 0)
    static_cast<void>(process_.set_signal_stack(*this, {}));
  signals.blocked_before.reset();
  SignalSet blocked = signals.blocked | action.blocked;
  if (!action.has(SignalAction::no_defer)) blocked.add(information.signal());
  process_.set_blocked(*this, blocked);
  return true;
}

void UserThread::work(arch::TrapFrame& frame) {
  const bool restarts = (work_.load(MemoryOrder::relaxed) & program_work::restart) != 0;
  drop_work(program_work::restart);
  bool handled = false;
  Log& log = process_.kernel().log;
  while (!process_.is_ending()) {
    const std::optional<Process::TakenSignal> taken =
        process_.take_signal(*this, ~signals.blocked, Process::TakeFor::handler);
    if (!taken) break;
    const Signal signal = taken->information.signal();
    if (taken->action.has_handler()) {
      if (restarts && !handled) finish_call(frame, &taken->action);
      handled = true;
      if (run_handler(frame, taken->information, taken->action)) continue;
      const auto no_room = SignalInformation::of(Signal::no_memory_there, signal_code::by_kernel);
      if (signal != Signal::no_memory_there && process_.send_fault(*this, no_room)) continue;
      log.error("program: expected room on the stack for a handler of ", name_of(signal), ", found none at ",
                arch::stack_pointer_of(frame));
      process_.end(128 + static_cast<int>(Signal::no_memory_there));
    } else if (signals::stop_the_program.has(signal) && !taken->action.ignores(signal)) {
      log.warning("program: ", name_of(signal), " asks to stop it: there is no job control, it goes on");
    } else if (!taken->action.ignores(signal)) {
      log.error("program: ended by ", name_of(signal), " (", static_cast<std::uint32_t>(signal), ")");
      process_.end(128 + static_cast<int>(signal));
    }
  }
  if (process_.is_ending()) exit();
  if (handled) return;
  if (restarts) finish_call(frame, nullptr);
  if (signals.blocked_before) process_.set_blocked(*this, *std::exchange(signals.blocked_before, std::nullopt));
}

}  // namespace ingot::os
