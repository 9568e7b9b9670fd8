// DeviceTrial: bytes of the host, copied to a device among bytes that nobody may write, and back.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "machine/gpu/device.h"

namespace ingot {

class DeviceTrial {
 public:
  DeviceTrial(Device& device, Queue& queue) : device_(device), queue_(queue) {}

  // Returns the index of the copy. An address of the copy has the original's remainder by 64.
  Result<std::size_t> copy_in(std::span<std::byte> original);
  // Memory that holds what an earlier kernel may have left there, aligned to 256 bytes.
  Result<std::size_t> take_scratch(std::size_t bytes);

  std::byte* data(std::size_t copy) const { return copies_[copy].data; }

  // Waits for the queue, and brings copies back. Fails where the device failed, or where a byte beside one of them is
  // another than before: `names` tells what each of them holds.
  Result<void> bring_back(std::span<const std::string> names);

 private:
  struct Copy {
    DeviceMemory memory;
    std::byte* data = nullptr;
    std::span<std::byte> original;  // empty for scratch
    std::size_t bytes = 0;
  };
  Result<std::size_t> take(std::size_t bytes, std::size_t remainder, std::byte filling);

  Device& device_;
  Queue& queue_;
  std::vector<Copy> copies_;
};

}  // namespace ingot
