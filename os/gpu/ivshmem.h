// Ivshmem: QEMU's device of shared memory with doorbells (docs/specs/ivshmem-spec.txt there). Who is connected to the
// same server is a peer of this machine; the accelerator's broker is number 0.
#pragma once

#include "os/device/registers.h"

namespace ingot::os {

class Ivshmem {
 public:
  static constexpr std::uint16_t vendor = 0x1af4, device = 0x1110;
  static constexpr std::uint32_t register_bar = 0, memory_bar = 2;

  explicit Ivshmem(Registers& registers) : registers_(registers) {}

  // Below 0: the server has not said so yet.
  std::int32_t own_number() const { return static_cast<std::int32_t>(registers_.read(own_number_at)); }
  void ring(std::uint16_t peer, std::uint16_t vector) {
    registers_.write(doorbell_at, std::uint32_t{peer} << 16 | vector);
  }

 private:
  static constexpr std::uint32_t own_number_at = 8, doorbell_at = 12;
  Registers& registers_;
};

}  // namespace ingot::os
