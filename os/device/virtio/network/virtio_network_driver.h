// The driver of network cards: a VirtioNetwork and the threads that serve it.
#pragma once

#include "os/device/virtio/virtio_driver.h"

namespace ingot::os {

Result<void> create_virtio_network(Kernel& kernel, VirtioDevice& device);
inline constexpr VirtioDriver virtio_network_driver{"virtio network card", 1, create_virtio_network};

}  // namespace ingot::os
