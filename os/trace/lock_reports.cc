#include "os/trace/lock_reports.h"

#include "os/boot/kernel.h"
#include "os/trace/panic.h"

namespace ingot::os {

void LockReports::lock_violated(const LockViolation& violation) {
  FixedText<400> text;
  text.append_all("locks: ", violation.what);
  const auto tell = [&](std::string_view which, const void* lock, LockRank rank) {
    if (lock == nullptr) return;
    text.append_all(which, name_of(rank), " at ", VirtualAddress(reinterpret_cast<std::uint64_t>(lock)));
  };
  tell("; the lock: ", violation.lock, violation.rank);
  tell("; held: ", violation.held, violation.held_rank);
  if (!violation.may_pass || !forgives_waits) panic(text.view());
  arch::current_cpu().kernel->log.warning(text.view());
}

}  // namespace ingot::os
