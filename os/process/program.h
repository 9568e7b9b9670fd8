// Loading a program: its ELF file becomes regions of an address space. Where the file lies at whole pages in memory, as
// the large files of an image do, its pages are shown in place and copied only when they are written to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/result.h"
#include "os/boot/elf.h"
#include "os/memory/address_space.h"
#include "os/memory/user_memory.h"

namespace ingot::os {

// A file in one piece: its bytes as the kernel sees them, and as regions can show them.
struct ProgramFile {
  std::span<const std::byte> bytes;
  MemoryObject* object = nullptr;  // none, or one whose offsets are not the file's: segments are copied
  Reference<Shared> owner{};       // of the object
};

struct LoadedProgram {
  VirtualAddress base;  // added to the addresses of the file
  UserAddress entry;
  VirtualAddress program_headers;  // where the program finds them in its memory; 0: nowhere
  std::size_t program_header_count = 0;
  VirtualAddress end;  // behind its last page: the heap of brk begins here
};

// Where a dynamic program says that its interpreter lies: the program that loads its libraries, and begins in its
// stead. Nothing for one that stands alone. The text lies in the file.
Result<std::optional<std::string_view>> interpreter_of(const ProgramFile& file);

// At `base` where the file can lie anywhere; one that cannot has its own addresses, and gets a base of 0. The current
// thread must use `space` (use_address_space). On failure regions may be left behind: the space is of no use any more.
Result<LoadedProgram> load_program(AddressSpace& space, MemoryObject& zeroes, const ProgramFile& file,
                                   VirtualAddress base);

}  // namespace ingot::os
