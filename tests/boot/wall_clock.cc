// The date comes from the machine's clock, and goes on.
//
// boot-test: success
// boot-test: qemu -rtc base=2024-02-29T12:00:00
// boot-test: expect date: 29 February 2024, noon
// boot-test: expect date: goes on
#include "os/boot/kernel.h"
#include "os/trace/panic.h"

namespace ingot::os {

void run_payload(Kernel& kernel) {
  const WallClock* clock = kernel.devices.wall_clock();
  if (clock == nullptr) panic("expected a wall clock, found none");
  const auto now = [&] { return clock->at(kernel.now()).count(); };
  constexpr std::int64_t second = 1'000'000'000, noon = 1'709'208'000;
  const std::int64_t first = now();
  if (first / second < noon || first / second > noon + 60) panic("expected noon, found ", first / second, " s");
  kernel.log.information("date: 29 February 2024, noon");
  while (now() == first) arch::pause();
  if (now() > first) kernel.log.information("date: goes on");
}

}  // namespace ingot::os
