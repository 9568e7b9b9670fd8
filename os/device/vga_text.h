// VgaText: the text mode in which a BIOS leaves a PC, where the card itself draws letters.
#pragma once

#include <cstdint>
#include <optional>

#include "os/device/screen_console.h"
#include "os/memory/address.h"

namespace ingot::os {

class VgaText final : public Canvas {
 public:
  static constexpr PhysicalAddress memory{0xb8000};
  static constexpr std::uint64_t memory_bytes = 0x8000;

  struct Size {
    std::uint32_t columns = 0, rows = 0;
  };
  // Asks the card's registers; nothing where there is no card, or it shows pixels.
  static std::optional<Size> size();

  // `cells` shows `memory`. Takes the blinking cursor away.
  VgaText(Size size, std::uint16_t* cells);

  std::uint32_t columns() const override { return size_.columns; }
  std::uint32_t rows() const override { return size_.rows; }
  void clear() override;
  void draw(std::uint32_t column, std::uint32_t row, char character) override;

 private:
  Size size_;
  volatile std::uint16_t* cells_;
};

}  // namespace ingot::os
