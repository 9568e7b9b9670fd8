// How a program wants to be told of something that happens later (man 7 sigevent): timers, message queues.
#pragma once

#include <cstdint>

namespace ingot::os {

// struct sigevent.
struct SignalEvent {
  static constexpr std::int32_t send = 0;            // SIGEV_SIGNAL
  static constexpr std::int32_t none = 1;            // SIGEV_NONE
  static constexpr std::int32_t call = 2;            // SIGEV_THREAD: the C library's work
  static constexpr std::int32_t send_to_thread = 4;  // SIGEV_THREAD_ID

  std::uint64_t value;
  std::int32_t number;
  std::int32_t how;
  std::int32_t thread;
  std::int32_t padding[11];
};
static_assert(sizeof(SignalEvent) == 64);

}  // namespace ingot::os
