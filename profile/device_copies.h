// DeviceCopies: a call's tensors on a device, so often that the device's cache holds little of a copy when its turn
// comes again.
#pragma once

#include <memory>
#include <vector>

#include "kernels/contract/operation.h"
#include "machine/gpu/device.h"

namespace ingot {

class DeviceCopies {
 public:
  // As many copies as fill three times the second-level cache, and at least two; fewer where memory is short. Scratch
  // is there once. Precondition: the call is the host's.
  static Result<DeviceCopies> make(Device& device, Queue& queue, const Operation& operation, const Invocation& original,
                                   std::size_t scratch_bytes);

  std::size_t count() const { return calls_.size(); }
  std::span<std::byte> scratch() const { return {scratch_.data(), scratch_.size()}; }
  // One after another.
  const Invocation& next() { return *calls_[turn_++ % calls_.size()]; }

 private:
  DeviceMemory memory_;
  DeviceMemory scratch_;
  std::vector<std::unique_ptr<Invocation>> calls_;
  std::size_t turn_ = 0;
};

}  // namespace ingot
