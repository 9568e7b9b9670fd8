// VirtioDriver: which driver serves which kind of device. The drivers' own headers declare their row.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "os/device/virtio/virtio_device.h"

namespace ingot::os {

struct Kernel;

struct VirtioDriver {
  std::string_view name;
  std::uint16_t kind = 0;  // virtio 1.2, chapter 5
  // Takes the device over for as long as the machine runs. A failure is told in the log, and the device left alone.
  Result<void> (*create)(Kernel& kernel, VirtioDevice& device) = nullptr;
};

}  // namespace ingot::os
