// What can be known about a boot before it: the memory it needs, and calls that the kernel would refuse.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "image/elf_file.h"
#include "image/file_tree.h"

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

// The same over all files that a program is made of. The C library of a dynamic program holds code for nearly every
// call there is, so of it counts only what the others import by name.
struct MissingCalls {
  std::vector<std::string> names;         // in alphabetical order
  std::vector<std::string> tried;         // by C libraries, which do without where they are answered with ENOSYS
  std::size_t more_in_the_c_library = 0;  // which nobody names
};
Result<MissingCalls> missing_calls_of(const FileTree& tree, const std::vector<std::string>& parts);

}  // namespace ingot::image
