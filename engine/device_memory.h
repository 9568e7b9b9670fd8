// Whether a device has the memory that a session will take, asked before any of it is taken.
#pragma once

#include "engine/session.h"

namespace ingot {

// Fails with what each part takes, what is free, and what would help.
Result<void> require_device_memory(Device& device, const DeviceNeeds& needs);

// How many of the model's first layers must stay on the host, so that there is room on the device for the others and
// for what they keep; 0: none. Fails as above where the device has not even room for what stands behind the layers.
Result<std::int64_t> find_host_layers(Device& device, const std::shared_ptr<const Model>& model,
                                      const SessionOptions& options);

}  // namespace ingot
