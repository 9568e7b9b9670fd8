#include "os/syscall/table.h"

namespace ingot::os {

Result<void> SystemCallTable::fill() {
  const std::span<const SystemCall> topics[] = {event_calls(),  futex_calls(), identity_calls(), memory_calls(),
                                                name_calls(),   open_calls(),  poll_calls(),     status_calls(),
                                                thread_calls(), time_calls(),  transfer_calls()};
  for (const std::span<const SystemCall> rows : topics) TRY(add(rows));
  return {};
}

Result<void> SystemCallTable::add(std::span<const SystemCall> rows) {
  for (const SystemCall& row : rows) {
    if (rows_[row.number] != nullptr) {
      return Error::of(ErrorCode::invalid_argument, "expected one function for ", row.name, ", found two");
    }
    rows_[row.number] = &row;
  }
  return {};
}

}  // namespace ingot::os
