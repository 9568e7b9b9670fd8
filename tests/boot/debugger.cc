// A kernel in a known state, for debugger_test.py to look at: one thread sleeps, one is ready, a lock is held, and
// every type that os/debug prints has a value.
//
// boot-test: success
// boot-test: options check-locks
// boot-test: expect exhibits: ready
// boot-test: expect ingot: done
#include "base/intrusive_list.h"
#include "os/boot/kernel.h"
#include "os/schedule/mutex.h"
#include "os/trace/panic.h"

namespace ingot::os {

namespace {

struct Item : ListLink<> {
  explicit Item(int value) : number(value) {}
  int number;
};

struct Exhibits {
  PhysicalAddress physical{0x1234000};
  VirtualAddress linear{0xffff800000001000};
  FrameNumber frame{0x77};
  Result<int> good{42};
  Result<int> bad{Error::of(ErrorCode::not_found, "expected a hat, found none")};
  Result<void> done;
  std::optional<int> something{5}, nothing;
  std::string_view view = "a view";
  FixedText<16> text = text_of<16>("a text");
  Atomic<std::uint32_t> atomic{9};
  IntrusiveList<Item> list;
  Mutex mutex{LockRank::address_space};
};

// The debugger stops here.
[[gnu::noinline]] void show(Exhibits& exhibits) {
  asm volatile("" : : "r"(&exhibits) : "memory");  // no instruction: assembly so that the compiler keeps the call
}

void show_with_lock_held(Exhibits& exhibits) {
  Locked<int> locked(LockRank::device);
  locked.with([&](int&) { show(exhibits); });
}

void take_and_give_back(Mutex& mutex) { const MutexGuard guard(mutex); }

KernelThread start(Kernel& kernel, std::string_view name, Mutex& mutex) {
  Result<KernelThread> thread = spawn(kernel, name, take_and_give_back, mutex);
  if (!thread.ok()) panic(thread.error());
  return std::move(thread).value();
}

}  // namespace

void run_payload(Kernel& kernel) {
  Exhibits exhibits;
  exhibits.mutex.lock();
  KernelThread sleeper = start(kernel, "sleeper", exhibits.mutex);
  current_scheduler().yield();
  KernelThread newcomer = start(kernel, "newcomer", exhibits.mutex);

  Item first(1), second(2);
  exhibits.list.push_back(first);
  exhibits.list.push_back(second);
  kernel.log.information("exhibits: ready");
  show_with_lock_held(exhibits);
  exhibits.list.remove(first);
  exhibits.list.remove(second);
  exhibits.mutex.unlock();
}

}  // namespace ingot::os
