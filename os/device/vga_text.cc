#include "os/device/vga_text.h"

#include "os/arch/arch.h"

namespace ingot::os {

namespace {

// Each set of registers hides behind two ports: a number, then the register's value.
constexpr std::uint16_t vga_output = 0x3cc, vga_graphics = 0x3ce, vga_timing = 0x3d4;

std::uint32_t read_vga(std::uint16_t set, std::uint8_t number) {
  arch::write_port_8(set, number);
  return arch::read_port_8(set + 1);
}

}  // namespace

std::optional<VgaText::Size> VgaText::size() {
  if (arch::read_port_8(vga_output) == 0xff) return std::nullopt;  // nobody there
  // Letters, not pixels, and at 0xb8000.
  if ((read_vga(vga_graphics, 6) & 0x0d) != 0x0c) return std::nullopt;
  const std::uint32_t overflow = read_vga(vga_timing, 0x07);
  const std::uint32_t lines =
      (read_vga(vga_timing, 0x12) | (overflow & 0x02) << 7 | (overflow & 0x40) << 3) + 1;  // of pixels
  const Size size{read_vga(vga_timing, 0x01) + 1, lines / ((read_vga(vga_timing, 0x09) & 0x1f) + 1)};
  if (size.columns * size.rows * sizeof(std::uint16_t) > memory_bytes) return std::nullopt;
  return size;
}

VgaText::VgaText(Size size, std::uint16_t* cells) : size_(size), cells_(cells) {
  constexpr std::uint8_t cursor_start = 0x0a, cursor_off = 0x20;
  arch::write_port_8(vga_timing, cursor_start);
  arch::write_port_8(vga_timing + 1, cursor_off);
}

void VgaText::clear() {
  for (std::uint32_t row = 0; row < size_.rows; ++row) {
    for (std::uint32_t column = 0; column < size_.columns; ++column) draw(column, row, ' ');
  }
}

void VgaText::draw(std::uint32_t column, std::uint32_t row, char character) {
  constexpr std::uint16_t grey_on_black = 0x0700;
  cells_[row * size_.columns + column] = grey_on_black | static_cast<std::uint8_t>(character);
}

}  // namespace ingot::os
