// What can be known about a boot before it: the memory it needs, and calls that the kernel would refuse.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "image/elf_file.h"

namespace ingot::image {

// What the kernel itself takes beside its image: page tables, frame records, stacks.
inline constexpr std::uint64_t kernel_margin = 8 << 20;

// The smallest machine on which the image's parts lie in memory and the program gets `anonymous` bytes besides.
// `memory_end`: one past the highest part.
std::uint64_t least_memory(std::uint64_t memory_end, std::uint64_t anonymous);

// Numbers of the system calls in a program's code: `syscall` with a constant in eax shortly before. A static program
// carries calls of its library that it never makes, and a number computed elsewhere is not seen: a hint, not a proof.
std::set<std::uint32_t> system_calls_in(const ElfFile& file);

// The names of those that the kernel does not answer, in alphabetical order.
std::vector<std::string> missing_system_calls(const std::set<std::uint32_t>& used);

}  // namespace ingot::image
