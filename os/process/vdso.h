// Vdso: a page of code and a page of facts that a program finds in its memory, so that it can tell the time without a
// call (os/process/vdso). The code is linked into the kernel's image as bytes.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "os/memory/memory_object.h"
#include "os/memory/owned.h"
#include "os/syscall/errno.h"

namespace ingot::os {

struct Kernel;
class ProgramMemory;

class Vdso {
 public:
  // Precondition: all CPUs run.
  static Result<Owned<Vdso>> create(Kernel& kernel);
  Vdso(Kernel& kernel, FrameNumber facts, FrameNumber code);
  Vdso(const Vdso&) = delete;
  Vdso& operator=(const Vdso&) = delete;
  // After the program's memory, which shows it.
  ~Vdso();

  // Into the program: where the code begins, as AT_SYSINFO_EHDR tells.
  Answer<VirtualAddress> map(ProgramMemory& memory);

 private:
  Kernel& kernel_;
  FrameNumber facts_frame_, code_frame_;
  PhysicalMemory facts_, code_;
};

}  // namespace ingot::os
