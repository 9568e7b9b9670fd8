// VirtioPci: a device on PCI, with its registers where capabilities say, and interrupts by message (virtio 1.2, 4.1).
#pragma once

#include <array>
#include <cstdint>

#include "os/device/virtio/virtio_device.h"

namespace ingot::os {

// Which part of which BAR: the registers that all kinds share, the doorbells, and the kind's own configuration.
struct VirtioPciParts {
  enum Part : std::uint8_t { common, doorbells, configuration, part_count };
  struct Range {
    std::uint8_t bar = 0;
    std::uint32_t offset = 0, bytes = 0;  // no bytes: the device has no such part
  };
  std::array<Range, part_count> ranges;
  std::uint32_t doorbell_step = 0;  // bytes from one to the next

  // From the first capability of each sort that makes sense. Fails where common registers or doorbells are missing.
  static Result<VirtioPciParts> read(PciConfiguration& configuration, PciAddress address);
};

class VirtioPci final : public VirtioDevice {
 public:
  static const VirtioLayout layout;

  VirtioPci(const PciDevice& device, VirtioRegisters& common, VirtioRegisters& doorbells,
            const VirtioRegisters& configuration, std::uint32_t doorbell_step)
      : VirtioDevice(common, layout, configuration),
        device_(device),
        doorbells_(doorbells),
        doorbell_step_(doorbell_step) {}

  // One message is the configuration's.
  std::size_t interrupt_count() const override;
  Result<void> connect(const InterruptServices& services, std::span<const InterruptTarget> targets,
                       InterruptHandler configuration) override;

 private:
  Result<VirtioDoorbell> connect_queue(std::uint16_t queue, std::uint16_t interrupt) override;
  Result<void> set_message(std::uint32_t offset, std::uint16_t message);

  PciDevice device_;
  VirtioRegisters& doorbells_;
  std::uint32_t doorbell_step_;
};

}  // namespace ingot::os
