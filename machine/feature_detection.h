// How feature words become a FeatureSet. The decision is a pure function over the raw words, so a test can feed it
// machines nobody here owns; only detect_features() asks the real one.
#pragma once

#include <cstdint>

#include "machine/features.h"

namespace ingot {

// Raw words of an x86_64 machine; zero where a leaf does not exist.
struct X86FeatureWords {
  std::uint32_t leaf1_ecx = 0;
  std::uint32_t leaf7_ebx = 0;
  std::uint32_t leaf7_ecx = 0;
  std::uint32_t leaf7_edx = 0;
  std::uint32_t leaf7_subleaf1_eax = 0;
  std::uint32_t extended1_ecx = 0;  // leaf 0x80000001
  std::uint64_t xcr0 = 0;           // register state the operating system saves; zero without OSXSAVE
  bool tile_permission = false;     // Linux grants AMX tile data per process, on request
};

// Raw words of an aarch64 machine: the kernel's AT_HWCAP and AT_HWCAP2, which name only what it enabled.
struct Aarch64FeatureWords {
  std::uint64_t hwcap = 0;
  std::uint64_t hwcap2 = 0;
};

FeatureSet features_from(const X86FeatureWords& words);
FeatureSet features_from(const Aarch64FeatureWords& words);

// Asks this machine. On x86_64 with AMX it also asks the kernel for permission to use tile data: the permission is the
// process's, is kept, and without it the first tile instruction would be fatal.
FeatureSet detect_features();

}  // namespace ingot
