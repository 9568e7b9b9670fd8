#include "os/device/pci/pci_places.h"

namespace ingot::os {

Result<PhysicalAddress> PciMemoryWindow::take(std::uint64_t bytes) {
  const PhysicalAddress begin = next_.rounded_up(bytes);
  if (begin > end_ || begin < next_ || bytes > end_ - begin) {
    return Error::of(ErrorCode::out_of_memory, "expected ", bytes, " free bytes for a device below ", end_,
                     ", found them used up to ", next_);
  }
  next_ = begin + bytes;
  return begin;
}

Result<void> place_pci_bars(PciConfiguration& configuration, PciAddress address, const PciHeader& header,
                            PciMemoryWindow& window) {
  constexpr std::uint32_t bar_count = 6;
  if (header.layout != 0) return {};
  for (std::uint32_t index = 0; index < bar_count; ++index) {
    const std::optional<PciBar> bar = TRY(probe_pci_bar(configuration, address, header, index));
    if (!bar) continue;
    if (bar->kind == PciBar::Kind::memory && bar->address == 0) {
      const PhysicalAddress place = TRY(window.take(bar->bytes));
      // The bits that say what kind it is cannot be written; an upper half is zero already.
      configuration.write(address, static_cast<std::uint16_t>(first_pci_bar + 4 * index),
                          static_cast<std::uint32_t>(place.value()));
    }
    if (bar->is_64_bit) ++index;
  }
  return {};
}

}  // namespace ingot::os
