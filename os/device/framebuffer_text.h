// FramebufferText: letters as pixels, on a screen that a loader left in a graphics mode.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.h"
#include "os/boot/boot_info.h"
#include "os/device/screen_console.h"

namespace ingot::os {

class FramebufferText final : public Canvas {
 public:
  // `pixels` shows framebuffer.pitch * framebuffer.height bytes.
  static Result<FramebufferText> create(const Framebuffer& framebuffer, std::byte* pixels);

  std::uint32_t columns() const override;
  std::uint32_t rows() const override;
  void clear() override;
  void draw(std::uint32_t column, std::uint32_t row, char character) override;

 private:
  FramebufferText(const Framebuffer& framebuffer, std::byte* pixels) : framebuffer_(framebuffer), pixels_(pixels) {}

  Framebuffer framebuffer_;
  std::byte* pixels_;
};

}  // namespace ingot::os
