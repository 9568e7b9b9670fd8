// Who may use which of the 256 vectors. A local APIC serves higher ones first: CPUs calling each other come before
// devices.
#pragma once

#include <cstdint>

namespace ingot::os::vectors {

inline constexpr std::uint8_t first_interrupt = 0x20;  // below are the CPU's own exceptions
inline constexpr std::uint8_t first_legacy = 0x20;     // the 16 of the 8259s, which ask for a multiple of 8
inline constexpr std::uint8_t first_device = 0x30;     // for InterruptTable::allocate
inline constexpr std::uint8_t timer = 0xf0;            // of each CPU
inline constexpr std::uint8_t reschedule = 0xf1;       // leave the halt and look at the queues
inline constexpr std::uint8_t call = 0xf2;             // run a function that another CPU names
inline constexpr std::uint8_t spurious = 0xff;

}  // namespace ingot::os::vectors
