// CpuHeader: what every architecture keeps for each CPU.
#pragma once

#include <cstdint>

namespace ingot::os {
class LockChecker;  // os/schedule/lock_checker.h
struct Kernel;      // os/boot/kernel.h
}  // namespace ingot::os

namespace ingot::os::arch {

// The first member of whatever a kernel keeps for each CPU.
struct CpuHeader {
  CpuHeader* self = nullptr;            // its own address: what one GS-relative load finds
  std::uint32_t index = 0;              // 0 is the CPU that booted
  LockChecker* lock_checker = nullptr;  // none: this CPU's spin locks are not checked
  Kernel* kernel = nullptr;             // how an interrupt finds everything else
};

}  // namespace ingot::os::arch
