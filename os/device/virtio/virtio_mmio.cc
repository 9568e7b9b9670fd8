#include "os/device/virtio/virtio_mmio.h"

namespace ingot::os {

constexpr VirtioLayout VirtioMmio::layout{.offered_selector = {0x014},
                                          .offered = {0x010},
                                          .accepted_selector = {0x024},
                                          .accepted = {0x020},
                                          .status = {0x070},
                                          .generation = {0x0fc},
                                          .queue_selector = {0x030},
                                          .queue_capacity = {0x034},
                                          .queue_entries = {0x038},
                                          .queue_enabled = {0x044},
                                          .queue_descriptors = {0x080},
                                          .queue_available = {0x090},
                                          .queue_used = {0x0a0}};

Result<std::uint16_t> VirtioMmio::kind_at(const VirtioRegisters& registers) {
  constexpr std::uint32_t magic_at = 0x000, version_at = 0x004, kind_register = 0x008;
  constexpr std::uint32_t magic = 0x74726976;  // "virt"
  if (registers.read(magic_at, 4) != magic) return std::uint16_t{0};
  const std::uint32_t kind = registers.read(kind_register, 4);
  if (kind == 0 || kind > 0xffff) return std::uint16_t{0};
  const std::uint32_t version = registers.read(version_at, 4);
  if (version == 2) return static_cast<std::uint16_t>(kind);
  return Error::of(ErrorCode::unsupported, "expected virtio-mmio 2, found ", version,
                   " (QEMU: -global virtio-mmio.force-legacy=false)");
}

Result<void> VirtioMmio::connect(const InterruptServices& services, std::span<const InterruptTarget> targets,
                                 InterruptHandler configuration) {
  target_ = targets[0].handler;
  configuration_target_ = configuration;
  TRY(services.controller.connect(services.table, line_, {on_interrupt, this}, targets[0].cpu));
  return {};
}

// A cause that comes while another is taken back leaves the line as it is, so one whose edges count would never be
// heard again: the causes are taken until there are none. A device that never ends with that is not waited for.
void VirtioMmio::on_interrupt(void* context, arch::TrapFrame& frame) {
  constexpr std::uint32_t causes_at = 0x060, taken_at = 0x064;
  constexpr std::uint32_t queue_used = 1, configuration_changed = 2;
  auto& device = *static_cast<VirtioMmio*>(context);
  for (int tries = 0; tries < 16; ++tries) {
    const std::uint32_t causes = device.registers().read(causes_at, 4);
    if (causes == 0) return;
    device.registers().write(taken_at, 4, causes);
    const auto tell = [&](const InterruptHandler& target) { target.function(target.context, frame); };
    if ((causes & queue_used) != 0) tell(device.target_);
    if ((causes & configuration_changed) != 0) tell(device.configuration_target_);
  }
}

Result<VirtioDoorbell> VirtioMmio::connect_queue(std::uint16_t queue, std::uint16_t) {
  constexpr std::uint32_t doorbell_at = 0x050;
  return VirtioDoorbell{&registers(), doorbell_at, 4, queue};
}

}  // namespace ingot::os
