// The GPUs of a machine as the driver tells them. Nothing is taken from them.
#pragma once

#include <vector>

#include "machine/gpu/cuda/driver.h"
#include "machine/gpu/device.h"

namespace ingot {

// What device sources are compiled for at least.
inline constexpr int least_capability = 80;

// Starts the driver; there is at least one GPU.
Result<int> count_cuda_devices(const cuda::Driver& driver);
// The driver is started, and the index is below the count.
Result<DeviceInformation> describe_cuda_device(const cuda::Driver& driver, int index);
Result<std::vector<DeviceInformation>> list_cuda_devices(const cuda::Driver& driver);

// Which instructions a chip has.
FeatureSet features_of_capability(int capability);

}  // namespace ingot
