// ProcessorHeader: what every architecture keeps for each CPU.
#pragma once

#include <cstdint>

namespace ingot::os {
class LockChecker;           // os/schedule/lock_checker.h
class LockViolationHandler;  // os/schedule/lock_checker.h
struct Kernel;               // os/boot/kernel.h
struct Tracepoints;          // os/trace/tracepoint.h
}  // namespace ingot::os

namespace ingot::os::arch {

// The first member of whatever a kernel keeps for each CPU.
struct ProcessorHeader {
  ProcessorHeader* self = nullptr;               // its own address: what one GS-relative load finds
  std::uint64_t entry_stack = 0;                 // where the current thread's stack begins when it comes from a program
  std::uint64_t entry_scratch = 0;               // the entry's own, for a moment
  std::uint32_t index = 0;                       // 0 is the CPU that booted
  LockChecker* lock_checker = nullptr;           // none: this CPU's spin locks are not checked
  LockChecker* other_lock_checker = nullptr;     // the handlers' while a thread runs, and the thread's while they do
  LockViolationHandler* lock_reports = nullptr;  // who is told of deadlocks
  std::uint64_t cycle_offset = 0;                // what this CPU's counter lacks of CPU 0's
  Kernel* kernel = nullptr;                      // how an interrupt finds everything else
  Tracepoints* tracepoints = nullptr;
};

}  // namespace ingot::os::arch
