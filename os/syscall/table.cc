#include "os/syscall/table.h"

#include <iterator>

#include "base/system_call_numbers.h"

namespace ingot::os {

Result<void> SystemCallTable::fill() {
  const std::span<const SystemCall> topics[] = {
      attribute_calls(), copy_calls(),           epoll_calls(),    event_calls(),    futex_calls(),  limit_calls(),
      machine_calls(),   memory_calls(),         name_calls(),     open_calls(),     policy_calls(), poll_calls(),
      process_calls(),   queue_calls(),          register_calls(), schedule_calls(), select_calls(), signal_calls(),
      socket_calls(),    socket_message_calls(), status_calls(),   thread_calls(),   time_calls(),   timer_calls(),
      transfer_calls(),  usage_calls(),          user_calls()};
  std::size_t count = 0;
  for (const std::span<const SystemCall> rows : topics) {
    TRY(add(rows));
    count += rows.size();
  }
  if (count == std::size(implemented_system_calls)) return {};
  return Error::of(ErrorCode::corrupt, "expected ", std::size(implemented_system_calls), " system calls, found ",
                   count);
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
