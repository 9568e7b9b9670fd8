// What a device can do at most, measured: the roofs that its rows are compared with.
#pragma once

#include "machine/gpu/device.h"
#include "machine/peaks.h"

namespace ingot {

struct DevicePeaks {
  // As of the host: memory's rates are those beyond the second-level cache, the cache's is the second level's. Matrix
  // rates are those of instructions that every chip of compute capability 8.0 and later has; later chips have others,
  // which do more.
  Peaks rates;
  double upload_bytes_per_second = 0;  // from pinned memory of the host
  double launch_seconds = 0;           // from the beginning of a launch that does nothing to that of the next
};

// Takes less than a second. On an emulated device the figures say nothing. Precondition: the queue is the device's.
Result<DevicePeaks> measure_device_peaks(Device& device, Queue& queue);

}  // namespace ingot
