// Timers expire in the order of their deadlines and never early, by whatever alarm the machine has; a thread sleeps on
// one; the clock never runs backwards.
//
// boot-test: success
// boot-test: expect timers: by
// boot-test: expect expired: 2 0 3 1
// boot-test: expect slept, and not too short
// boot-test: expect the clock ran forwards
#include "os/boot/kernel.h"
#include "os/schedule/sleep.h"
#include "os/trace/panic.h"

namespace ingot::os {

namespace {

constexpr Nanoseconds millisecond(1'000'000);

class NotingTimer final : public Timer {
 public:
  NotingTimer(Kernel& kernel, FixedText<64>& order, int number) : kernel_(kernel), order_(order), number_(number) {}
  bool was_early = false;
  Atomic<bool> rang;

 private:
  std::optional<Nanoseconds> expired() override {
    was_early = kernel_.now() < deadline();
    order_.append_all(" ", number_);
    rang.store(true, MemoryOrder::release);
    return {};
  }

  Kernel& kernel_;
  FixedText<64>& order_;
  int number_;
};

void expire_in_order(Kernel& kernel) {
  TimerQueue& timers = *current_processor().timers;
  FixedText<64> order;
  NotingTimer list[] = {{kernel, order, 0}, {kernel, order, 1}, {kernel, order, 2}, {kernel, order, 3}};
  NotingTimer cancelled(kernel, order, 4), far(kernel, order, 5);
  const Nanoseconds now = kernel.now();
  arch::disable_interrupts();                      // a slow host lets none expire before all are added
  timers.add(far, now + millisecond * 3'600'000);  // further than any alarm can be set
  timers.add(list[0], now + millisecond * 4);
  timers.add(list[1], now + millisecond * 8);
  timers.add(list[2], now - millisecond);  // has passed: rings at once
  timers.add(cancelled, now + millisecond * 5);
  timers.add(list[3], now + millisecond * 6);
  if (!timers.cancel(cancelled)) panic("expected a timer that can be cancelled, found it expired");
  arch::enable_interrupts();
  while (!list[1].rang.load(MemoryOrder::acquire)) arch::pause();
  for (const NotingTimer& timer : list) {
    if (timer.was_early) panic("expected no timer before its deadline, found one");
  }
  if (!timers.cancel(far)) panic("expected the far timer pending, found it expired");
  kernel.log.information("expired:", order.view());
}

}  // namespace

void run_payload(Kernel& kernel) {
  expire_in_order(kernel);
  for (int i = 0; i < 3; ++i) {
    const Nanoseconds deadline = kernel.now() + millisecond * 2;
    sleep_thread_until(deadline);
    if (kernel.now() < deadline) panic("expected to sleep until ", deadline.count(), ", found ", kernel.now().count());
  }
  kernel.log.information("slept, and not too short");
  Nanoseconds last = kernel.now();
  for (int i = 0; i < 20'000; ++i) {
    const Nanoseconds next = kernel.now();
    if (next < last) panic("expected a clock that runs forwards, found ", next.count(), " after ", last.count());
    last = next;
  }
  kernel.log.information("the clock ran forwards");
}

}  // namespace ingot::os
