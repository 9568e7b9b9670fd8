#include "os/device/legacy_pic.h"

#include "os/arch/arch.h"
#include "os/interrupt/vectors.h"

namespace ingot::os {

namespace {

constexpr std::uint16_t first_command = 0x20, first_data = 0x21, second_command = 0xa0, second_data = 0xa1;
constexpr std::uint32_t cascade = 2;  // the line of the first through which the second speaks

void write_masks(std::uint16_t masks) {
  arch::write_port_8(first_data, static_cast<std::uint8_t>(masks));
  arch::write_port_8(second_data, static_cast<std::uint8_t>(masks >> 8));
}

bool in_service(std::uint16_t command, std::uint8_t line_bit) {
  arch::write_port_8(command, 0x0b);  // the next read is of the lines in service
  return (arch::read_port_8(command) & line_bit) != 0;
}

void end(std::uint16_t command, std::uint32_t line) {
  arch::write_port_8(command, static_cast<std::uint8_t>(0x60 | line));
}

}  // namespace

void LegacyPic::silence() {
  // The four initialisation words: begin, first vector, how the two are wired, 8086 mode.
  arch::write_port_8(first_command, 0x11);
  arch::write_port_8(second_command, 0x11);
  arch::write_port_8(first_data, vectors::first_legacy);
  arch::write_port_8(second_data, vectors::first_legacy + 8);
  arch::write_port_8(first_data, 1u << cascade);
  arch::write_port_8(second_data, cascade);
  arch::write_port_8(first_data, 0x01);
  arch::write_port_8(second_data, 0x01);
  write_masks(0xffff);
}

std::optional<std::uint8_t> LegacyPic::fixed_vector(const InterruptLine& line) const {
  return static_cast<std::uint8_t>(vectors::first_legacy + (line.number & (line_count - 1)));
}

Result<void> LegacyPic::route(const InterruptLine& line, std::uint8_t vector, std::uint32_t cpu) {
  if (line.number < line_count && line.number != cascade && cpu == 0 && vector == *fixed_vector(line)) return {};
  return Error::of(ErrorCode::unsupported, "expected one of the 15 lines of the 8259s to CPU 0, found line ",
                   line.number, " to CPU ", cpu);
}

void LegacyPic::mask(std::uint32_t line) {
  masks_.with([&](std::uint16_t& masks) {
    masks = static_cast<std::uint16_t>(masks | 1u << line);
    write_masks(masks);
  });
}

void LegacyPic::unmask(std::uint32_t line) {
  masks_.with([&](std::uint16_t& masks) {
    masks = static_cast<std::uint16_t>(masks & ~(1u << line | 1u << cascade));
    write_masks(masks);
  });
}

Result<InterruptMessage> LegacyPic::message(std::uint8_t, std::uint32_t) const {
  return Error::of(ErrorCode::unsupported, "expected a local APIC for interrupts by message, found none");
}

// A line that fell before the CPU asked which one it was: the controller says its last, without having begun it. The
// first controller did begin the second's.
bool LegacyPic::is_spurious(std::uint64_t vector) {
  constexpr std::uint8_t last = 0x80;
  if (vector == vectors::first_legacy + 7u) return !in_service(first_command, last);
  if (vector != vectors::first_legacy + 15u || in_service(second_command, last)) return false;
  end(first_command, cascade);
  return true;
}

void LegacyPic::end_of_interrupt(std::uint64_t vector) {
  const std::uint64_t line = vector - vectors::first_legacy;
  if (line >= line_count) return;  // none of ours: an INT instruction
  if (line >= 8) end(second_command, line & 7);
  end(first_command, line >= 8 ? cascade : static_cast<std::uint32_t>(line));
}

}  // namespace ingot::os
