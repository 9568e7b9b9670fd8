// SystemCallTable: which function answers which number. Built once at start from the rows that stand beside the calls.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/atomic.h"
#include "base/result.h"
#include "os/syscall/system_call.h"

namespace ingot::os {

// The rows by topic, each beside its calls.
std::span<const SystemCall> attribute_calls();
std::span<const SystemCall> copy_calls();
std::span<const SystemCall> epoll_calls();
std::span<const SystemCall> event_calls();
std::span<const SystemCall> futex_calls();
std::span<const SystemCall> limit_calls();
std::span<const SystemCall> machine_calls();
std::span<const SystemCall> memory_calls();
std::span<const SystemCall> name_calls();
std::span<const SystemCall> open_calls();
std::span<const SystemCall> policy_calls();
std::span<const SystemCall> poll_calls();
std::span<const SystemCall> process_calls();
std::span<const SystemCall> queue_calls();
std::span<const SystemCall> register_calls();
std::span<const SystemCall> schedule_calls();
std::span<const SystemCall> select_calls();
std::span<const SystemCall> signal_calls();
std::span<const SystemCall> socket_calls();
std::span<const SystemCall> socket_message_calls();
std::span<const SystemCall> status_calls();
std::span<const SystemCall> thread_calls();
std::span<const SystemCall> time_calls();
std::span<const SystemCall> timer_calls();
std::span<const SystemCall> transfer_calls();
std::span<const SystemCall> usage_calls();
std::span<const SystemCall> user_calls();

class SystemCallTable {
 public:
  static constexpr std::size_t number_count = 512;

  // Every topic that the kernel has. Fails where two functions answer one number.
  Result<void> fill();

  // nullptr: nobody answers it.
  const SystemCall* find(std::uint64_t number) const { return number < number_count ? rows_[number] : nullptr; }
  // Whether each call is written to the log.
  bool is_traced() const { return traced_; }
  void trace() { traced_ = true; }
  // True the first time that somebody misses the number.
  bool missed_first_time(std::uint64_t number) {
    return number < number_count && !missed_[number].exchange(true, MemoryOrder::relaxed);
  }

 private:
  Result<void> add(std::span<const SystemCall> rows);

  bool traced_ = false;
  std::array<const SystemCall*, number_count> rows_{};
  std::array<Atomic<bool>, number_count> missed_{};
};

}  // namespace ingot::os
