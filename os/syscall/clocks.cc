#include "os/syscall/clocks.h"

#include "os/boot/kernel.h"
#include "os/process/process.h"

namespace ingot::os {

Answer<std::optional<ProcessorClock>> processor_clock(Caller& caller, Clock clock) {
  if (clock == Clock::process_time) return std::optional(ProcessorClock{0});
  if (clock == Clock::thread_time) return std::optional(ProcessorClock{caller.thread.number()});
  const auto bits = static_cast<std::int32_t>(clock);
  if (bits >= 0) return std::optional<ProcessorClock>();
  // A clock of one thread's time, or of a process's, has their number in it (man 3 pthread_getcpuclockid).
  constexpr std::int32_t kind = 3, of_thread = 4, processor_time = 2;
  const auto number = static_cast<std::uint32_t>(~(bits >> 3));
  if ((bits & kind) > processor_time) return Errno::einval;
  if ((bits & of_thread) == 0) {
    if (number != 0 && number != caller.process.number()) return Errno::einval;
    return std::optional(ProcessorClock{0});
  }
  if (number == 0) return std::optional(ProcessorClock{caller.thread.number()});
  if (!caller.process.with_thread(number, [](UserThread&) {})) return Errno::einval;
  return std::optional(ProcessorClock{number});
}

Answer<Nanoseconds> time_of(Caller& caller, Clock clock) {
  switch (clock) {
    case Clock::real_time:
    case Clock::coarse_real_time: return caller.kernel.wall_time();
    case Clock::monotonic:
    case Clock::raw_monotonic:
    case Clock::coarse_monotonic:
    case Clock::boot_time: return caller.kernel.now();
    default: break;
  }
  const std::optional<ProcessorClock> own = TRY(processor_clock(caller, clock));
  if (!own) return Errno::einval;
  return own->thread == 0 ? caller.process.processor_time() : caller.process.processor_time_of(own->thread);
}

}  // namespace ingot::os
