#include "os/device/virtio/virtio_pci.h"

#include <algorithm>

namespace ingot::os {

constexpr VirtioLayout VirtioPci::layout{.offered_selector = {0x00},
                                         .offered = {0x04},
                                         .accepted_selector = {0x08},
                                         .accepted = {0x0c},
                                         .status = {0x14, 1},
                                         .generation = {0x15, 1},
                                         .queue_selector = {0x16, 2},
                                         .queue_capacity = {0x18, 2},
                                         .queue_entries = {0x18, 2},
                                         .queue_enabled = {0x1c, 2},
                                         .queue_descriptors = {0x20},
                                         .queue_available = {0x28},
                                         .queue_used = {0x30}};

Result<VirtioPciParts> VirtioPciParts::read(PciConfiguration& space, PciAddress address) {
  constexpr std::uint8_t vendor_capability = 0x09;
  constexpr std::uint16_t capability_bytes = 16, with_step_bytes = 20;
  constexpr std::array<Part, 5> part_of_sort{part_count, common, doorbells, part_count, configuration};
  VirtioPciParts parts;
  std::uint16_t at = 0;
  // As many as fit into configuration space, at most.
  for (int count = 0; count < 64; ++count) {
    const auto found = find_pci_capability(space, address, vendor_capability, capability_bytes, at);
    if (!found) break;
    at = *found;
    const auto field = [&](unsigned offset) { return space.read(address, static_cast<std::uint16_t>(at + offset)); };
    const std::uint32_t sort = field(0) >> 24;
    const Part part = sort < part_of_sort.size() ? part_of_sort[sort] : part_count;
    const Range range{static_cast<std::uint8_t>(field(4)), field(8), field(12)};
    if (part == part_count || parts.ranges[part].bytes != 0 || range.bar > 5 || range.offset % 4 != 0) continue;
    if (part == doorbells && at + with_step_bytes > 0x100) continue;
    if (part == doorbells) parts.doorbell_step = field(16);
    parts.ranges[part] = range;
  }
  constexpr std::uint32_t least_common = 0x38, least_doorbell = 2;
  const std::uint32_t shared = parts.ranges[common].bytes, bells = parts.ranges[doorbells].bytes;
  if (shared >= least_common && bells >= least_doorbell) return parts;
  return Error::of(ErrorCode::unsupported, "expected the registers of virtio 1.0, found ", shared,
                   " bytes of them and ", bells, " of doorbells");
}

std::size_t VirtioPci::interrupt_count() const {
  const std::size_t messages = device_.message_count();
  return messages == 0 ? 0 : std::min(messages - 1, most_interrupts);
}

Result<void> VirtioPci::connect(const InterruptServices& services, std::span<const InterruptTarget> targets,
                                InterruptHandler configuration) {
  constexpr std::uint32_t configuration_message = 0x10;
  std::array<InterruptTarget, most_interrupts + 1> all;
  std::array<std::uint8_t, most_interrupts + 1> vectors;
  std::copy(targets.begin(), targets.end(), all.begin());
  all[targets.size()] = {configuration, targets[0].cpu};
  const std::size_t count = targets.size() + 1;
  TRY(device_.connect_messages(services, std::span(all).first(count), std::span(vectors).first(count)));
  return set_message(configuration_message, static_cast<std::uint16_t>(targets.size()));
}

// A device that lacks what a message needs shows that there is none.
Result<void> VirtioPci::set_message(std::uint32_t offset, std::uint16_t message) {
  registers().write(offset, 2, message);
  if (registers().read(offset, 2) == message) return {};
  return Error::of(ErrorCode::unsupported, "expected a device with room for message ", message, ", found none");
}

Result<VirtioDoorbell> VirtioPci::connect_queue(std::uint16_t queue, std::uint16_t interrupt) {
  constexpr std::uint32_t queue_message = 0x1a, queue_doorbell = 0x1e;
  TRY(set_message(queue_message, interrupt));
  const std::uint64_t doorbell = std::uint64_t{registers().read(queue_doorbell, 2)} * doorbell_step_;
  if (doorbells_.has(doorbell, 2) && doorbell % 2 == 0) {
    return VirtioDoorbell{&doorbells_, static_cast<std::uint32_t>(doorbell), 2, queue};
  }
  return Error::of(ErrorCode::corrupt, "expected a doorbell inside of ", doorbells_.size(), " bytes, found it at ",
                   doorbell);
}

}  // namespace ingot::os
