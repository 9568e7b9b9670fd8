// The I/O ports of the PC: an address space of its own, which only the instructions IN and OUT reach, so this is
// assembly.
#pragma once

#include <cstdint>

namespace ingot::os::arch {

inline void write_port_8(std::uint16_t port, std::uint8_t value) {
  asm volatile("outb %0, %1" : : "a"(value), "Nd"(port) : "memory");
}
inline void write_port_16(std::uint16_t port, std::uint16_t value) {
  asm volatile("outw %0, %1" : : "a"(value), "Nd"(port) : "memory");
}
inline void write_port_32(std::uint16_t port, std::uint32_t value) {
  asm volatile("outl %0, %1" : : "a"(value), "Nd"(port) : "memory");
}
inline std::uint8_t read_port_8(std::uint16_t port) {
  std::uint8_t value = 0;
  asm volatile("inb %1, %0" : "=a"(value) : "Nd"(port) : "memory");
  return value;
}
inline std::uint16_t read_port_16(std::uint16_t port) {
  std::uint16_t value = 0;
  asm volatile("inw %1, %0" : "=a"(value) : "Nd"(port) : "memory");
  return value;
}
inline std::uint32_t read_port_32(std::uint16_t port) {
  std::uint32_t value = 0;
  asm volatile("inl %1, %0" : "=a"(value) : "Nd"(port) : "memory");
  return value;
}

}  // namespace ingot::os::arch
