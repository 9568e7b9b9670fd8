// An exception of a program is a signal to it; where it has no handler, the program's end, with a report.
#pragma once

#include <string_view>

#include "os/arch/x86_64/trap_frame.h"
#include "os/memory/page_fault.h"

namespace ingot::os::arch {

void signal_exception(const TrapFrame& frame, std::string_view report);
// One that the address space would not answer, and why.
void signal_page_fault(const TrapFrame& frame, const PageFault& fault, const Error& refusal);

}  // namespace ingot::os::arch
