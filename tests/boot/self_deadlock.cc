// A thread that waits for a mutex it holds is told so, by name.
//
// boot-test: panic
// boot-test: expect panic: locks: expected a mutex to become free, found a deadlock
// boot-test: expect panic: "main" waits for 0xffff
// boot-test: expect in thread "main" on CPU 0
// boot-test: expect  Mutex::lock
#include "os/boot/kernel.h"
#include "os/schedule/mutex.h"

namespace ingot::os {

void run_payload(Kernel&) {
  current_thread().lock_checker = nullptr;  // the record of ranks would tell it first, in other words
  Mutex mutex(LockRank::device);
  mutex.lock();
  mutex.lock();
}

}  // namespace ingot::os
