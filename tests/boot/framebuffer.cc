// A loader's graphics mode shows the log, pixel by pixel as the font is drawn.
//
// boot-test: success
// boot-test: loader grub
// boot-test: machine q35
// boot-test: device VGA
// boot-test: expect characters, drawn
// boot-test: expect framebuffer: found 'ingot: starting'
// boot-test: expect framebuffer: found 'after scrolling'
#include "os/boot/kernel.h"
#include "os/device/font.h"
#include "os/trace/panic.h"

namespace ingot::os {

namespace {

// Whether the text stands at the begin of a row of characters, 4 pixels from the border.
bool shows(const Framebuffer& framebuffer, const std::byte* pixels, std::uint32_t row, std::string_view text) {
  const std::uint32_t pixel_bytes = framebuffer.bits_per_pixel / 8;
  for (std::uint32_t y = 0; y < glyph_height; ++y) {
    const std::byte* line = pixels + std::size_t{4 + row * glyph_height + y} * framebuffer.pitch;
    for (std::uint32_t x = 0; x < text.size() * glyph_width; ++x) {
      const bool inked = line[std::size_t{4 + x} * pixel_bytes] > std::byte{0x80};
      if (inked != ((glyph_of(text[x / glyph_width])[y] << x % glyph_width & 0x80) != 0)) return false;
    }
  }
  return true;
}

}  // namespace

void run_payload(Kernel& kernel) {
  const Framebuffer framebuffer = kernel.boot_info.framebuffer.value_or(Framebuffer{});
  if (framebuffer.width == 0) panic("expected a framebuffer, found none");
  const Result<VirtualAddress> memory = kernel.memory->map_device(
      framebuffer.address, std::uint64_t{framebuffer.pitch} * framebuffer.height, CacheMode::write_combining);
  if (!memory.ok()) panic(memory.error());
  const auto* pixels = reinterpret_cast<const std::byte*>(memory.value().value());
  const auto expect = [&](std::string_view text) {
    for (std::uint32_t row = 0; row < (framebuffer.height - 8) / glyph_height; ++row) {
      if (shows(framebuffer, pixels, row, text)) return kernel.log.information("framebuffer: found '", text, "'");
    }
    panic("expected '", text, "' on the screen, found other lines");
  };
  expect("ingot: starting");
  for (int line = 0; line < 60; ++line) kernel.log.information("filling the screen");
  kernel.log.information("after scrolling");
  expect("after scrolling");
}

}  // namespace ingot::os
