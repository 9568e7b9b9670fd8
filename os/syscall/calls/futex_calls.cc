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
  change_and_wake = 5,  // FUTEX_WAKE_OP
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

// FUTEX_WAKE_OP packs into one number how its second word changes, and of which values before that waiters there are
// woken, too: 4 bits of what to do, 4 of how to compare, and 12 for a number of each.
std::int32_t number_of(std::uint32_t packed) { return static_cast<std::int32_t>(packed << 20) >> 20; }

Answer<std::uint32_t> changed(std::uint32_t packed, std::uint32_t word) {
  auto operand = static_cast<std::uint32_t>(number_of(packed >> 12));
  if (packed >> 31 != 0) operand = 1u << (operand & 31);  // FUTEX_OP_OPARG_SHIFT
  switch (packed >> 28 & 7) {
    case 0: return operand;
    case 1: return word + operand;
    case 2: return word | operand;
    case 3: return word & ~operand;
    case 4: return word ^ operand;
    default: return Errno::enosys;
  }
}
Answer<bool> wakes_there(std::uint32_t packed, std::uint32_t word) {
  const auto value = static_cast<std::int32_t>(word), other = number_of(packed);
  switch (packed >> 24 & 15) {
    case 0: return value == other;
    case 1: return value != other;
    case 2: return value < other;
    case 3: return value <= other;
    case 4: return value > other;
    case 5: return value >= other;
    default: return Errno::enosys;
  }
}

// As on Linux, a call that wakes and names none, or fewer, wakes one.
std::uint64_t at_least_one(std::uint32_t most) { return static_cast<std::int32_t>(most) > 0 ? most : 1; }

struct WordWakes {
  UserPointer<std::uint32_t> word;
  std::uint32_t most;
};
Answer<std::uint64_t> change_and_wake(Process& process, WordWakes here, WordWakes there, std::uint32_t packed) {
  if (!there.word.address.aligned(sizeof(std::uint32_t))) return Errno::einval;
  std::uint32_t before = TRY(there.word.read());
  while (true) {
    const std::uint32_t wanted = TRY(changed(packed, before));
    const std::uint32_t found = TRY(process.locks().exchange(there.word.address, before, wanted));
    if (found == before) break;
    before = found;
  }
  const bool also_there = TRY(wakes_there(packed, before));
  std::uint64_t woken = process.futexes().wake(here.word, at_least_one(here.most));
  if (also_there) woken += process.futexes().wake(there.word, at_least_one(there.most));
  return woken;
}

// Its middle arguments mean other things with other operations.
Answer<std::uint64_t> futex(Caller& caller, UserPointer<std::uint32_t> word, std::uint32_t request, std::uint32_t value,
                            std::uint64_t time_or_count, UserPointer<std::uint32_t> other, std::uint32_t third) {
  const auto operation = static_cast<Operation>(request & ~(private_flag | wall_clock_flag));
  FutexTable& futexes = caller.process.futexes();
  FutexLocks& locks = caller.process.locks();
  const UserPointer<TimeSpecification> time{VirtualAddress(time_or_count)};
  if ((request & wall_clock_flag) != 0 && !may_name_clock(operation)) return Errno::enosys;
  if (!word.address.aligned(sizeof(std::uint32_t))) return Errno::einval;
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
    case Operation::wake: return futexes.wake(word, at_least_one(value));
    case Operation::wake_bits:
      if (third == 0) return Errno::einval;
      return futexes.wake(word, at_least_one(value), third);
    case Operation::compare_requeue:
      if (TRY(word.read()) != third) return Errno::eagain;
      [[fallthrough]];
    case Operation::requeue:
      // Those that should move to the other word go on as well: a waiter may always go on for no reason.
      return futexes.wake(word, std::uint64_t{value} + time_or_count);
    case Operation::change_and_wake:
      return change_and_wake(caller.process, {word, value}, {other, static_cast<std::uint32_t>(time_or_count)}, third);
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
