// The end, told well: what happened, the registers, who called whom, the last lines of the log.
#pragma once

#include <string_view>

#include "base/text.h"
#include "os/arch/arch.h"
#include "os/schedule/lock_checker.h"
#include "os/trace/format.h"

namespace ingot::os {

struct Kernel;

// `frame`: what the CPU did when it failed; without one, the caller of this function is what failed.
[[noreturn]] void panic_in(Kernel& kernel, std::string_view message, const arch::TrapFrame* frame);

// For code that cannot continue and has no caller to tell.
template <class... Parts>
[[noreturn]] void panic(const Parts&... parts) {
  panic_in(*arch::current_cpu().kernel, text_of<400>(parts...).view(), nullptr);
}

// What the kernel does about a lock that was taken wrongly: it tells both locks, and ends.
class LockReports final : public LockViolationHandler {
 public:
  void lock_violated(const LockViolation& violation) override;
  bool forgives_waits = true;  // one that may pass is only logged
};

}  // namespace ingot::os
