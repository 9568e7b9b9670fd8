// LockReports: what the kernel does about a lock that was taken wrongly: it tells both locks, and ends.
#pragma once

#include "os/schedule/lock_checker.h"

namespace ingot::os {

class LockReports final : public LockViolationHandler {
 public:
  void lock_violated(const LockViolation& violation) override;
  bool forgives_waits = true;  // one that may pass is only logged
};

}  // namespace ingot::os
