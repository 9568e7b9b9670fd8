// The order in which locks are taken: each only above those already held, so that no two CPUs can wait for each other.
#pragma once

#include <cstdint>
#include <string_view>

namespace ingot::os {

// From the outermost to the innermost. A lock that may be held while another is taken stands above it in this list.
enum class LockRank : std::uint8_t {
  file_tree,       // names: one thread at a time walks or changes them
  file_position,   // of one open file, or the items of one epoll; bytes move to and from programs, which may fault
  held_epoll,      // the items of an epoll that is in another, whose own may be held
  file_data,       // of one pipe, one terminal; as above
  network,         // the whole stack; bytes move to and from programs, and to drivers
  device,          // a driver's own state
  interrupts,      // who handles a vector, and where lines lead
  program,         // what its calls change as one step: who waits for its locks, whose words may fault; its limits
  program_memory,  // what a program's mappings may come to
  address_space,   // regions of one address space
  memory_object,   // who shows one object's memory
  page_table,
  file_pages,     // of one file in memory: a fault on a mapping of it asks for them
  descriptors,    // of one process
  file_watchers,  // the epolls that watch one file
  poll,           // who waits for one file
  epoll_holders,  // the epolls that one epoll is in
  epoll,          // the files of one epoll that said something
  epoll_poll,     // who waits for one epoll
  futex,          // who waits for words of a program's memory
  wait,           // the state and the sleepers of a mutex, semaphore, channel, ...
  wait_graph,     // who waits for which mutex
  timers,         // of one CPU; a timer that fires wakes threads and tasks, or sends a signal
  process,        // the threads of a program, and their signals
  executor,       // tasks that can go on, of one CPU
  run_queue,      // threads that can go on, of one CPU
  heap,           // fixed-size blocks
  frames,         // the frame allocator
  random,         // the key of random numbers
  log,            // written to from everywhere
};

constexpr std::string_view name_of(LockRank rank) {
  constexpr std::string_view names[] = {
      "file tree",  "file position", "held epoll",     "file data",     "network",       "device",
      "interrupts", "program",       "program memory", "address space", "memory object", "page table",
      "file pages", "descriptors",   "file watchers",  "poll",          "epoll holders", "epoll",
      "epoll poll", "futex",         "wait",           "wait graph",    "timers",        "process",
      "executor",   "run queue",     "heap",           "frames",        "random",        "log"};
  return names[static_cast<std::size_t>(rank)];
}

// A handler that interrupted the holder on its own CPU would wait for it forever: what handlers use too is locked with
// interrupts off.
enum class SharedWith : std::uint8_t { threads, interrupts };

}  // namespace ingot::os
