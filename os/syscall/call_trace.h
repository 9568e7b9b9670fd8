// What a program asks of the kernel, a line a call in the debug log, as strace would print it:
//
//   [1] openat(-100, "/etc/passwd", 524288, 0) = -1 ENOENT <38 us>
//
// On where the manifest says `trace syscalls` or the boot line `trace=syscalls`.
#pragma once

#include "base/units.h"
#include "os/syscall/system_call.h"
#include "os/trace/log.h"

namespace ingot::os {

// "[1] openat(-100, "/etc/passwd", 524288, 0)": the call and its arguments by their kinds. In the caller's memory.
Log::Line describe_call(std::uint32_t thread, const SystemCall& row, const arch::TrapFrame& registers);
// " = -1 ENOENT <38 us>"
void describe_answer(const SystemCall& row, const Answer<std::uint64_t>& answer, Nanoseconds duration, Log::Line& line);

// Answers the call, and writes the line. One that never comes back has its line before.
Answer<std::uint64_t> call_traced(Caller& caller, const SystemCall& row);

}  // namespace ingot::os
