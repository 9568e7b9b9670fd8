#include "os/device/io_apic.h"

namespace ingot::os {

namespace {

constexpr std::uint32_t select_at = 0x00, window_at = 0x10, version = 1;
constexpr std::uint32_t active_low = 1u << 13, level = 1u << 15, masked_bit = 1u << 16;

constexpr std::uint32_t entry_low(std::uint32_t input) { return 0x10 + 2 * input; }
constexpr std::uint32_t entry_high(std::uint32_t input) { return entry_low(input) + 1; }

}  // namespace

std::uint32_t IoApic::Window::read(std::uint32_t index) {
  registers.write(select_at, index);
  return registers.read(window_at);
}
void IoApic::Window::write(std::uint32_t index, std::uint32_t value) {
  registers.write(select_at, index);
  registers.write(window_at, value);
}

IoApic::IoApic(Registers& registers, std::uint32_t first_line)
    : window_(LockRank::interrupts, Window{registers}), first_line_(first_line) {
  window_.with([this](Window& window) {
    line_count_ = (window.read(version) >> 16 & 0xff) + 1;
    for (std::uint32_t input = 0; input < line_count_; ++input) window.write(entry_low(input), masked_bit);
  });
}

void IoApic::route(const InterruptLine& line, std::uint8_t vector, std::uint8_t destination) {
  const std::uint32_t input = line.number - first_line_;
  const std::uint32_t entry = vector | (line.polarity == Polarity::active_low ? active_low : 0) |
                              (line.trigger == Trigger::level ? level : 0) | masked_bit;
  window_.with([&](Window& window) {
    window.write(entry_low(input), entry);
    window.write(entry_high(input), std::uint32_t{destination} << 24);
  });
}

void IoApic::set_masked(std::uint32_t line, bool masked) {
  const std::uint32_t at = entry_low(line - first_line_);
  window_.with([&](Window& window) {
    const std::uint32_t entry = window.read(at);
    window.write(at, masked ? entry | masked_bit : entry & ~masked_bit);
  });
}

}  // namespace ingot::os
