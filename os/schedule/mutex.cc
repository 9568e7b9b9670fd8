#include "os/schedule/mutex.h"

#include "base/text.h"
#include "os/schedule/scheduler.h"

namespace ingot::os {

static std::uintptr_t address_of(const Thread& thread) { return reinterpret_cast<std::uintptr_t>(&thread); }

inline bool Mutex::take_at_once(Thread& thread) {
  std::uintptr_t found = 0;
  return thread.lock_checker == nullptr && holder_.compare_exchange(found, address_of(thread), MemoryOrder::acquire);
}

void Mutex::lock() {
  Thread& thread = *current_processor().current;
  if (!take_at_once(thread)) lock_slowly(thread, rank_);
}

void Mutex::lock_as(LockRank rank) {
  Thread& thread = *current_processor().current;
  if (!take_at_once(thread)) lock_slowly(thread, rank);
}

bool Mutex::try_lock() {
  Thread& thread = current_thread();
  std::uintptr_t found = 0;
  if (!holder_.compare_exchange(found, address_of(thread), MemoryOrder::acquire)) return false;
  if (thread.lock_checker != nullptr)
    thread.lock_checker->take(this, rank_, LockChecker::Waits::no, SharedWith::threads);
  return true;
}

void Mutex::lock_slowly(Thread& thread, LockRank rank) {
  if (thread.lock_checker != nullptr)
    thread.lock_checker->take(this, rank, LockChecker::Waits::yes, SharedWith::threads);
  const std::uintptr_t self = address_of(thread);
  Waiter waiter(thread);
  auto& graph = current_scheduler().wait_graph;
  for (bool waited = false;; waited = true) {
    const bool taken = waiters_.with([&](WaitList& list) {
      list.leave(waiter);  // one that was woken by the end of its program is still there
      std::uintptr_t found = holder_.load(MemoryOrder::relaxed);
      while (true) {
        // Others may wait behind us, and we have forgotten: taken here, it is given back through the list.
        const std::uintptr_t wanted = (found == 0 ? self : found) | waited_for;
        if (!holder_.compare_exchange(found, wanted, MemoryOrder::acquire)) continue;
        if (found == 0) return true;
        list.join(waiter);
        graph.with([&](WaitGraph& waits) { waits.wait(thread, *this); });
        return false;
      }
    });
    if (taken && waited) graph.with([&](WaitGraph&) { thread.waits_for = nullptr; });
    if (taken) return;
    block_current_thread();
  }
}

void Mutex::unlock() {
  Thread& thread = *current_processor().current;
  const std::uintptr_t found = holder_.exchange(0, MemoryOrder::release);
  if (found != address_of(thread) || thread.lock_checker != nullptr) unlock_slowly(thread, found);
}

void Mutex::unlock_slowly(Thread& thread, std::uintptr_t found) {
  if ((found & ~waited_for) != address_of(thread)) __builtin_trap();
  if (thread.lock_checker != nullptr) thread.lock_checker->give_back(this, rank_);
  if ((found & waited_for) == 0) return;
  // Whoever walks the graph and met us as the holder has finished once we had its lock; after that we may end.
  current_scheduler().wait_graph.with([](WaitGraph&) {});
  waiters_.with([](WaitList& list) { list.wake_one(); });
}

bool Mutex::is_held_by_current_thread() const {
  return (holder_.load(MemoryOrder::relaxed) & ~waited_for) == address_of(current_thread());
}

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

}  // namespace ingot::os
