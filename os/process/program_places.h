// Where the parts of a program begin: each anywhere in a TiB of its own, so that nobody can guess it, and none tells of
// another. In steps of a page: what wants large pages is aligned within (AddressSpace::add), and a file that says so
// (ElfSegment::alignment) gets a base to its liking.
#pragma once

#include <cstdint>

#include "os/memory/user_memory.h"

namespace ingot::os {

struct ProgramPlace {
  static constexpr unsigned random_bits = 28;
  static constexpr std::uint64_t span = page_bytes << random_bits;

  VirtualAddress begin;

  constexpr VirtualAddress end() const { return begin + span; }
  // `random` is uniform in 64 bits.
  constexpr VirtualAddress draw(std::uint64_t random) const {
    return begin + (random & ((std::uint64_t{1} << random_bits) - 1)) * page_bytes;
  }
};

namespace program_places {
// A program that can lie anywhere; the heap of brk behind it.
inline constexpr ProgramPlace program{VirtualAddress(0x5500'0000'0000)};
// Libraries, stacks of threads, whatever is mapped without an address: upwards from here, over what lies above.
inline constexpr ProgramPlace mappings{VirtualAddress(0x7a00'0000'0000)};
inline constexpr ProgramPlace interpreter{VirtualAddress(0x7d00'0000'0000)};
inline constexpr ProgramPlace first_stack{VirtualAddress(0x7e00'0000'0000)};
}  // namespace program_places

}  // namespace ingot::os
