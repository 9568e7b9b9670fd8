#include "os/device/pci/pci.h"

namespace ingot::os {
namespace {

constexpr std::uint16_t command_register = 0x04, bus_numbers = 0x18, capabilities_pointer = 0x34;
constexpr std::uint32_t decode_ports_and_memory = 3;
constexpr std::uint32_t has_capabilities = 1u << 20;  // in the status half of the command register

bool is_64_bit_bar(std::uint32_t low) { return (low & 7) == 4; }

// Whether the register belongs to the 64-bit one before it. That is known by reading from the first one on.
bool is_upper_half(PciConfiguration& configuration, PciAddress address, std::uint32_t index) {
  std::uint32_t next = 0;
  while (next < index) {
    const bool wide = is_64_bit_bar(configuration.read(address, static_cast<std::uint16_t>(first_pci_bar + 4 * next)));
    next += wide ? 2 : 1;
  }
  return next != index;
}

}  // namespace

std::optional<PciHeader> read_pci_header(PciConfiguration& configuration, PciAddress address) {
  const std::uint32_t identity = configuration.read(address, 0x00);
  if ((identity & 0xffff) == 0xffff) return std::nullopt;
  const std::uint32_t classes = configuration.read(address, 0x08);
  const std::uint8_t type = configuration.read_8(address, 0x0e);
  const std::uint32_t interrupt = configuration.read(address, 0x3c);
  const std::uint32_t board = configuration.read(address, 0x2c);
  PciHeader header;
  header.vendor = static_cast<std::uint16_t>(identity);
  header.device = static_cast<std::uint16_t>(identity >> 16);
  header.base_class = static_cast<std::uint8_t>(classes >> 24);
  header.sub_class = static_cast<std::uint8_t>(classes >> 16);
  header.interface = static_cast<std::uint8_t>(classes >> 8);
  header.revision = static_cast<std::uint8_t>(classes);
  header.layout = type & 0x7f;
  header.subsystem = header.layout == 0 ? static_cast<std::uint16_t>(board >> 16) : std::uint16_t{0};
  header.has_functions = (type & 0x80) != 0;
  header.interrupt_line = static_cast<std::uint8_t>(interrupt);
  header.interrupt_pin = static_cast<std::uint8_t>(interrupt >> 8);
  return header;
}

std::uint8_t secondary_bus(PciConfiguration& configuration, PciAddress address) {
  return static_cast<std::uint8_t>(configuration.read(address, bus_numbers) >> 8);
}

Result<std::optional<PciBar>> decode_pci_bar(const PciBarProbe& probe) {
  PciBar bar;
  bar.kind = (probe.low & 1) != 0 ? PciBar::Kind::ports : PciBar::Kind::memory;
  // The lowest bit that can be set is the size: a device decodes only the bits above. Bits below the address are kind.
  std::uint64_t writable = 0;
  if (bar.kind == PciBar::Kind::ports) {
    if ((probe.low_after_ones & 0xfffcu) == 0) return std::optional<PciBar>();
    bar.address = probe.low & 0xfffffffcu;
    // The upper half may be left out: no port lies there.
    writable = (probe.low_after_ones & 0xfffffffcu) | 0xffffffffffff0000u;
  } else {
    const std::uint32_t width = probe.low >> 1 & 3;
    if (width != 0 && width != 2) {
      return Error::of(ErrorCode::unsupported, "expected a BAR of 32 or 64 bits, found width code ", width);
    }
    bar.is_64_bit = width == 2;
    bar.prefetchable = (probe.low & 8) != 0;
    if (!bar.is_64_bit && (probe.low_after_ones & 0xfffffff0u) == 0) return std::optional<PciBar>();
    const std::uint64_t high = bar.is_64_bit ? probe.high : 0;
    const std::uint64_t high_after_ones = bar.is_64_bit ? probe.high_after_ones : 0xffffffffu;
    bar.address = high << 32 | (probe.low & 0xfffffff0u);
    writable = high_after_ones << 32 | (probe.low_after_ones & 0xfffffff0u);
  }
  if (writable == 0) return std::optional<PciBar>();
  bar.bytes = writable & (0 - writable);
  // All bits above the size can be set too, else it is no size.
  if (writable != 0 - bar.bytes || (bar.address & (bar.bytes - 1)) != 0) {
    return Error::of(ErrorCode::corrupt, "expected a BAR at a multiple of its size, found ",
                     PhysicalAddress(bar.address), " with writable bits ", PhysicalAddress(writable));
  }
  return std::optional<PciBar>(bar);
}

Result<std::optional<PciBar>> probe_pci_bar(PciConfiguration& configuration, PciAddress address,
                                            const PciHeader& header, std::uint32_t index) {
  const std::uint32_t count = header.is_bridge() ? 2 : header.layout == 0 ? 6 : 0;
  if (index >= count) {
    return Error::of(ErrorCode::out_of_range, "expected one of ", count, " BARs, found number ", index);
  }
  if (is_upper_half(configuration, address, index)) {
    return Error::of(ErrorCode::corrupt, "expected a BAR, found number ", index, " to be the upper half of another");
  }
  const auto offset = static_cast<std::uint16_t>(first_pci_bar + 4 * index);
  const auto next = static_cast<std::uint16_t>(offset + 4);
  PciBarProbe probe;
  probe.low = configuration.read(address, offset);
  const bool is_64_bit = is_64_bit_bar(probe.low);
  if (is_64_bit && index + 1 == count) {
    return Error::of(ErrorCode::corrupt, "expected an upper half after 64-bit BAR ", index, ", found no register");
  }
  // The status half clears where ones are written: zeros leave it.
  const std::uint32_t command = configuration.read(address, command_register) & 0xffff;
  configuration.write(address, command_register, command & ~decode_ports_and_memory);
  configuration.write(address, offset, 0xffffffffu);
  probe.low_after_ones = configuration.read(address, offset);
  configuration.write(address, offset, probe.low);
  if (is_64_bit) {
    probe.high = configuration.read(address, next);
    configuration.write(address, next, 0xffffffffu);
    probe.high_after_ones = configuration.read(address, next);
    configuration.write(address, next, probe.high);
  }
  configuration.write(address, command_register, command);
  return decode_pci_bar(probe);
}

std::optional<std::uint16_t> find_pci_capability(PciConfiguration& configuration, PciAddress address,
                                                 std::uint8_t wanted, std::uint16_t bytes, std::uint16_t after) {
  if ((configuration.read(address, command_register) & has_capabilities) == 0) return std::nullopt;
  // 192 bytes after the header hold at most 48 of them: whoever needs more steps walks in a circle.
  std::uint8_t offset = configuration.read_8(address, capabilities_pointer) & 0xfc;
  bool is_behind = after == 0;
  for (int step = 0; step < 48 && offset >= 0x40; ++step) {
    const std::uint32_t entry = configuration.read(address, offset);
    if (is_behind && (entry & 0xff) == wanted && offset + bytes <= 0x100) return offset;
    is_behind |= offset == after;
    offset = entry >> 8 & 0xfc;
  }
  return std::nullopt;
}

}  // namespace ingot::os
