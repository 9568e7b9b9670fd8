// The CPUID instruction as a function. Empty on other architectures.
#pragma once

#if defined(__x86_64__)

#include <cpuid.h>

#include <cstdint>

namespace ingot {

struct CpuidRegisters {
  std::uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
};

// All zero when the CPU does not have the leaf: CPUID itself would answer with the last basic leaf's data instead.
inline CpuidRegisters cpuid(std::uint32_t leaf, std::uint32_t subleaf = 0) {
  CpuidRegisters registers;
  if (__get_cpuid_max(leaf & 0x80000000u, nullptr) < leaf) return registers;
  __cpuid_count(leaf, subleaf, registers.eax, registers.ebx, registers.ecx, registers.edx);
  return registers;
}

}  // namespace ingot

#endif
