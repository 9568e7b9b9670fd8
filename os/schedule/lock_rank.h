// The order in which locks are taken: each only above those already held, so that no two CPUs can wait for each other.
#pragma once

#include <cstdint>
#include <string_view>

namespace ingot::os {

// From the outermost to the innermost. A lock that may be held while another is taken stands above it in this list.
enum class LockRank : std::uint8_t {
  device,         // a driver's own state
  interrupts,     // who handles a vector, and where lines lead
  address_space,  // regions of one address space
  page_table,
  wait,       // the state and the sleepers of a mutex, semaphore, channel, ...
  timers,     // of one CPU; a timer that fires wakes threads and tasks
  executor,   // tasks that can go on, of one CPU
  run_queue,  // threads that can go on, of one CPU
  heap,       // fixed-size blocks
  frames,     // the frame allocator
  log,        // written to from everywhere
};

constexpr std::string_view name_of(LockRank rank) {
  switch (rank) {
    case LockRank::device: return "device";
    case LockRank::interrupts: return "interrupts";
    case LockRank::address_space: return "address space";
    case LockRank::page_table: return "page table";
    case LockRank::wait: return "wait";
    case LockRank::timers: return "timers";
    case LockRank::executor: return "executor";
    case LockRank::run_queue: return "run queue";
    case LockRank::heap: return "heap";
    case LockRank::frames: return "frames";
    case LockRank::log: return "log";
  }
  return "unknown";
}

}  // namespace ingot::os
