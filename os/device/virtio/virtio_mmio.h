// VirtioMmio: a device behind a window of registers in memory and one interrupt line (virtio 1.2, 4.2), as small
// virtual machines have them.
#pragma once

#include "os/device/virtio/virtio_device.h"
#include "os/interrupt/interrupt_controller.h"

namespace ingot::os {

class VirtioMmio final : public VirtioDevice {
 public:
  static constexpr std::uint32_t register_bytes = 0x100;  // what is behind is the kind's configuration
  static const VirtioLayout layout;

  // What lies behind the window: a device's kind, or 0 where there is none. An older device is refused.
  static Result<std::uint16_t> kind_at(const VirtioRegisters& registers);
  // Precondition: the registers have register_bytes.
  VirtioMmio(VirtioRegisters& registers, const VirtioRegisters& configuration, const InterruptLine& line)
      : VirtioDevice(registers, layout, configuration), line_(line) {}

  std::size_t interrupt_count() const override { return 1; }
  Result<void> connect(const InterruptServices& services, std::span<const InterruptTarget> targets,
                       InterruptHandler configuration) override;
  // For InterruptTable: `context` is the device.
  static void on_interrupt(void* context, arch::TrapFrame& frame);

 private:
  Result<VirtioDoorbell> connect_queue(std::uint16_t queue, std::uint16_t interrupt) override;

  InterruptLine line_;
  InterruptHandler target_, configuration_target_;
};

}  // namespace ingot::os
