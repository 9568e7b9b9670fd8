// Executable: a program of the image in memory and, where it is dynamic, its interpreter beside it.
#pragma once

#include <optional>
#include <string_view>

#include "base/result.h"
#include "os/process/program.h"

namespace ingot::os {

class Process;

struct Executable {
  LoadedProgram program;
  std::optional<LoadedProgram> interpreter;

  // The interpreter begins, loads the libraries, and jumps to the program's entry, of which the auxiliary vector tells.
  UserAddress first_instruction() const { return interpreter ? interpreter->entry : program.entry; }
  VirtualAddress interpreter_base() const { return interpreter ? interpreter->base : VirtualAddress(0); }
};

// Each at a place that nobody can guess; the heap begins somewhere behind the program. The current thread must use the
// process's address space.
Result<Executable> load_executable(Process& process, std::string_view path);

}  // namespace ingot::os
