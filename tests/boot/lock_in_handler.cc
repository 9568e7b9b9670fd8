// A handler may take a lock that is kept with interrupts off, whatever the thread holds; any other lock is reported.
//
// boot-test: panic
// boot-test: expect the handlers' lock is fine
// boot-test: expect panic: locks: expected a lock that handlers may take, found one that threads hold
// boot-test: expect  on_interrupt + 0x
#include "os/boot/kernel.h"
#include "os/schedule/locked.h"
#include "os/trace/panic.h"

namespace ingot::os {

namespace {

constexpr std::size_t vector = 0x90;

struct Everybody {
  Kernel& kernel;
  Locked<int, SharedWith::interrupts> with_handlers{LockRank::device};
  Locked<int> with_threads{LockRank::wait};
};

}  // namespace

[[gnu::noinline]] void on_interrupt(void* context, arch::TrapFrame&) {
  Everybody& shared = *static_cast<Everybody*>(context);
  shared.with_handlers.with([](int& value) { ++value; });
  shared.kernel.log.information("the handlers' lock is fine");
  shared.with_threads.with([](int& value) { ++value; });
}

void run_payload(Kernel& kernel) {
  Everybody shared{kernel};
  const Result<void> claimed = kernel.interrupts.claim(vector, {on_interrupt, &shared});
  if (!claimed.ok()) panic(claimed.error());
  // Held by the thread, and above the handler's first lock: no order between the two.
  Locked<int> held(LockRank::frames);
  held.with([](int&) { asm volatile("int %0" : : "i"(vector) : "memory"); });  // assembly: an interrupt now
}

}  // namespace ingot::os
