// CallQueue: where calls of any operation are put to be run elsewhere, by rows that are not this program's.
#pragma once

#include "kernels/contract/operation.h"

namespace ingot {

class CallQueue {
 public:
  virtual ~CallQueue() = default;

  // Precondition: check() succeeded, and the tensors lie where the other side sees them. What goes wrong there, the
  // queue of the device tells that the calls run on.
  virtual Result<void> put(const Operation& operation, const Invocation& invocation) = 0;
};

}  // namespace ingot
