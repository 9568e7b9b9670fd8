// DeviceClock: how long a device takes for work of a queue, by the device's own clock.
#pragma once

#include <functional>
#include <memory>

#include "machine/gpu/device.h"

namespace ingot {

class DeviceClock {
 public:
  // Preconditions: the queue is one of the device's; both outlive the clock.
  static Result<DeviceClock> create(Device& device, Queue& queue);

  Device& device() const { return *device_; }
  Queue& queue() const { return *queue_; }

  // What `give` puts into the queue, to be timed as a whole: a host gives a launch in microseconds, in which a device
  // could rest.
  Result<std::unique_ptr<Recording>> record(const std::function<void()>& give);
  // Seconds that the device takes for it.
  Result<double> seconds_of(const Recording& recording);

  // Gives the device something to do for about that long, so that what follows is complete before the device begins
  // with it. An emulated device does all at once: for it this is nothing.
  Result<void> hold(double seconds);

  // What the device reads and writes a second while it copies within its memory, more than its caches hold.
  Result<double> measure_copies();

 private:
  DeviceClock(Device& device, Queue& queue) : device_(&device), queue_(&queue) {}

  Device* device_;
  Queue* queue_;
  std::unique_ptr<Mark> begin_;
  std::unique_ptr<Mark> end_;
  // What holds it; made when it is first asked for.
  DeviceMemory filled_;
  std::unique_ptr<Recording> fills_;
  double fills_seconds_ = 0;
};

}  // namespace ingot
