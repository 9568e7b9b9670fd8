#include "os/schedule/wait_graph.h"

#include "base/text.h"
#include "os/memory/address.h"
#include "os/schedule/mutex.h"
#include "os/schedule/thread.h"

namespace ingot::os {

template <class Visit>
bool WaitGraph::walk(const Thread& thread, Visit&& visit) {
  const Thread* waiter = &thread;
  while (const Mutex* mutex = waiter->waits_for) {
    // A holder that knows of waiters passes through this lock before it lets go: it is still there. One that does not
    // know has just come, and the waiter will look again.
    const std::uintptr_t found = mutex->holder_.load(MemoryOrder::relaxed);
    const auto* holder = reinterpret_cast<const Thread*>(found & ~Mutex::waited_for);
    if ((found & Mutex::waited_for) == 0 || holder == nullptr) return false;
    visit(*waiter, *mutex, *holder);
    if (holder == &thread) return true;
    if (holder == waiter) return false;  // it has what it waited for, and was not yet here to say so
    waiter = holder;
  }
  return false;
}

void WaitGraph::wait(Thread& thread, const Mutex& mutex) {
  thread.waits_for = &mutex;
  if (!walk(thread, [](const Thread&, const Mutex&, const Thread&) {})) return;
  FixedText<360> text;
  text.append("expected a mutex to become free, found a deadlock");
  walk(thread, [&](const Thread& waiter, const Mutex& wanted, const Thread& holder) {
    const VirtualAddress address(reinterpret_cast<std::uint64_t>(&wanted));
    text.append_all("; \"", waiter.name(), "\" waits for ", address, ", held by \"", holder.name(), "\"");
  });
  LockViolationHandler* reports = arch::current_cpu().lock_reports;
  if (reports == nullptr) __builtin_trap();
  reports->lock_violated({.what = text.view(), .lock = &mutex, .rank = mutex.rank_});
}

void WaitGraph::forget(Thread& thread) { thread.waits_for = nullptr; }

}  // namespace ingot::os
