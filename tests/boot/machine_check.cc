// The hardware is in error: the kernel tells what the CPU's banks say, whatever it was doing, and stops.
//
// boot-test: panic
// boot-test: processors 2
// boot-test: monitor mce 0 3 0xb600000000000136 0x5 0x123456000 0x8c
// boot-test: expect waiting for the monitor
// boot-test: expect panic: machine check: state 0x5, 10 banks
// boot-test: expect panic: bank 3: uncorrected, status 0xb600000000000136, address 0x123456000
// boot-test: expect on CPU 0
#include "os/boot/kernel.h"
#include "os/schedule/sleep.h"

namespace ingot::os {

void run_payload(Kernel& kernel) {
  kernel.log.information("waiting for the monitor");
  for (;;) sleep_thread_until(kernel.now() + Nanoseconds(1'000'000));
}

}  // namespace ingot::os
