// The futex call (man 2 futex).
#include "os/boot/kernel.h"
#include "os/process/process.h"
#include "os/syscall/table.h"
#include "os/syscall/time_values.h"

namespace ingot::os {

namespace {

enum class Operation : std::uint32_t {
  wait = 0,             // FUTEX_WAIT
  wake = 1,             // FUTEX_WAKE
  requeue = 3,          // FUTEX_REQUEUE
  compare_requeue = 4,  // FUTEX_CMP_REQUEUE
  lock = 6,             // FUTEX_LOCK_PI: until a time of the wall clock
  unlock = 7,           // FUTEX_UNLOCK_PI
  try_lock = 8,         // FUTEX_TRYLOCK_PI
  wait_bits = 9,        // FUTEX_WAIT_BITSET
  wake_bits = 10,       // FUTEX_WAKE_BITSET
  lock_by_clock = 13    // FUTEX_LOCK_PI2
};
constexpr std::uint32_t private_flag = 128, wall_clock_flag = 256;  // FUTEX_PRIVATE_FLAG, FUTEX_CLOCK_REALTIME

// Which of them know times of the wall clock.
bool may_name_clock(Operation operation) {
  return operation == Operation::wait || operation == Operation::wait_bits || operation == Operation::lock_by_clock;
}

// A time to wait for: relative in `wait`, absolute in the others.
Answer<std::optional<Nanoseconds>> deadline_of(Caller& caller, Operation operation, std::uint32_t flags,
                                               UserPointer<TimeSpecification> time) {
  const std::optional<Nanoseconds> kept = caller.thread.take_kept_deadline();
  if (time.is_null()) return std::optional<Nanoseconds>();
  if (kept) return kept;
  const TimeSpecification specification = TRY(time.read());
  const Nanoseconds value = TRY(specification.nanoseconds());
  if (operation == Operation::wait) return std::optional(later(caller.kernel.now(), value));
  if ((flags & wall_clock_flag) == 0 && operation != Operation::lock) return std::optional(value);
  return std::optional(caller.kernel.now() + (value - caller.kernel.wall_time()));
}

// Its middle arguments mean other things with other operations.
Answer<std::uint64_t> futex(Caller& caller, UserPointer<std::uint32_t> word, std::uint32_t request, std::uint32_t value,
                            std::uint64_t time_or_count, UserPointer<std::uint32_t>, std::uint32_t third) {
  const auto operation = static_cast<Operation>(request & ~(private_flag | wall_clock_flag));
  FutexTable& futexes = caller.process.futexes();
  FutexLocks& locks = caller.process.locks();
  const UserPointer<TimeSpecification> time{VirtualAddress(time_or_count)};
  if ((request & wall_clock_flag) != 0 && !may_name_clock(operation)) return Errno::enosys;
  switch (operation) {
    case Operation::wait:
    case Operation::wait_bits: {
      const std::optional<Nanoseconds> deadline = TRY(deadline_of(caller, operation, request, time));
      const std::uint32_t bits = operation == Operation::wait ? FutexTable::any_bits : third;
      const Answer<void> waited = futexes.wait(caller.thread, word, value, bits, deadline);
      if (waited.ok()) return std::uint64_t{0};
      if (waited.error() != Errno::restart || !deadline) return waited.error();
      caller.thread.keep_deadline(*deadline);
      return Errno::restart_without_handler;
    }
    case Operation::wake: return futexes.wake(word, value);
    case Operation::wake_bits:
      if (third == 0) return Errno::einval;
      return futexes.wake(word, value, third);
    case Operation::compare_requeue:
      if (TRY(word.read()) != third) return Errno::eagain;
      [[fallthrough]];
    case Operation::requeue:
      // Those that should move to the other word go on as well: a waiter may always go on for no reason.
      return futexes.wake(word, std::uint64_t{value} + time_or_count);
    case Operation::lock:
    case Operation::lock_by_clock: {
      const std::optional<Nanoseconds> deadline = TRY(deadline_of(caller, operation, request, time));
      TRY(locks.lock(caller.thread, word, deadline));
      return std::uint64_t{0};
    }
    case Operation::try_lock: TRY(locks.try_lock(caller.thread, word)); return std::uint64_t{0};
    case Operation::unlock: TRY(locks.unlock(caller.thread, word)); return std::uint64_t{0};
  }
  return Errno::enosys;
}

constexpr SystemCall rows[] = {system_call<&futex>("futex")};

}  // namespace

std::span<const SystemCall> futex_calls() { return rows; }

}  // namespace ingot::os
