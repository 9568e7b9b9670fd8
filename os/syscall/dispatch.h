// Between a program and the kernel: what happens when it comes, and before it goes on.
#pragma once

#include "os/arch/arch.h"

namespace ingot::os {

struct Kernel;

// The current thread asked for a system call: answers it in the frame. Interrupts are on.
void answer_system_call(arch::TrapFrame& frame);

// The current thread, which may sleep here, has been in a call for long: who waits for its CPU has it, once the
// thread's slice is over.
void share_cpu(Kernel& kernel);

// The current thread is about to go (back) to ring 3 with this frame: the last moment to end it, to give its CPU to
// others, or to send it elsewhere. Interrupts are off, and are off on return.
void before_program(arch::TrapFrame& frame);

}  // namespace ingot::os
