// The futex call (linux/futex.h), without the operations that lend priorities.
#include "os/boot/kernel.h"
#include "os/process/process.h"
#include "os/syscall/table.h"
#include "os/syscall/time_values.h"

namespace ingot::os {

namespace {

enum class Operation : std::uint32_t {
  wait = 0,
  wake = 1,
  requeue = 3,
  compare_requeue = 4,
  wake_operation = 5,
  wait_bits = 9,
  wake_bits = 10
};
constexpr std::uint32_t private_flag = 128, wall_clock_flag = 256;

// A time to wait for: relative in `wait`, absolute in `wait_bits`.
Answer<std::optional<Nanoseconds>> deadline_of(Caller& caller, Operation operation, std::uint32_t flags,
                                               UserPointer<TimeSpecification> time) {
  const std::optional<Nanoseconds> kept = caller.thread.take_kept_deadline();
  if (time.is_null()) return std::optional<Nanoseconds>();
  if (kept) return kept;
  const TimeSpecification specification = TRY(time.read());
  const Nanoseconds value = TRY(specification.nanoseconds());
  if (operation == Operation::wait) return std::optional(later(caller.kernel.now(), value));
  if ((flags & wall_clock_flag) == 0) return std::optional(value);
  return std::optional(caller.kernel.now() + (value - caller.kernel.wall_time()));
}

// Its middle arguments mean other things with other operations.
Answer<std::uint64_t> futex(Caller& caller, UserPointer<std::uint32_t> word, std::uint32_t request, std::uint32_t value,
                            std::uint64_t time_or_count, UserPointer<std::uint32_t> second_word, std::uint32_t third) {
  const auto operation = static_cast<Operation>(request & ~(private_flag | wall_clock_flag));
  FutexTable& futexes = caller.process.futexes();
  switch (operation) {
    case Operation::wait:
    case Operation::wait_bits: {
      const UserPointer<TimeSpecification> time{VirtualAddress(time_or_count)};
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
    case Operation::wake_operation: break;
  }
  static_cast<void>(second_word);
  return Errno::enosys;
}

constexpr SystemCall rows[] = {system_call<&futex>("futex")};

}  // namespace

std::span<const SystemCall> futex_calls() { return rows; }

}  // namespace ingot::os
