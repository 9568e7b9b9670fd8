#include "os/schedule/thread.h"

namespace ingot::os {

std::string_view name_of(ThreadState state) {
  switch (state) {
    case ThreadState::created: return "created";
    case ThreadState::ready: return "ready";
    case ThreadState::running: return "running";
    case ThreadState::yielding: return "yielding";
    case ThreadState::blocking: return "blocking";
    case ThreadState::woken: return "woken";
    case ThreadState::blocked: return "blocked";
    case ThreadState::finishing: return "finishing";
    case ThreadState::finished: return "finished";
  }
  return "unknown";
}

void Thread::prepare_to_block() {
  // A thread sleeps in one list at a time, and only itself.
  if (!move_state(ThreadState::running, ThreadState::blocking)) __builtin_trap();
}

}  // namespace ingot::os
