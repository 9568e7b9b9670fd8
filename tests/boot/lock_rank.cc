// A lock taken out of order ends in a report of both locks, before anybody can wait.
//
// boot-test: panic
// boot-test: expect the right order is fine
// boot-test: expect panic: locks: expected a rank above all held, found one that is not
// boot-test: expect panic: the lock: device at 0xffff
// boot-test: expect panic: held: heap at 0xffff
// boot-test: expect in thread "main" on CPU 0
// boot-test: expect  run_payload + 0x
#include "os/boot/kernel.h"
#include "os/schedule/locked.h"

namespace ingot::os {

void run_payload(Kernel& kernel) {
  Locked<int> outer(LockRank::device), inner(LockRank::heap);
  outer.with([&](int& value) { inner.with([&](int& other) { other = ++value; }); });
  kernel.log.information("the right order is fine");
  inner.with([&](int& value) { outer.with([&](int& other) { other = ++value; }); });
}

}  // namespace ingot::os
