#include "os/device/framebuffer_text.h"

#include "os/device/font.h"

namespace ingot::os {

namespace {

// Equal parts of red, green and blue: whichever byte is which, it is the same grey.
constexpr std::uint32_t ink = 0xd0d0d0, paper = 0;
constexpr std::uint32_t margin = 4;  // pixels: letters do not touch the border

}  // namespace

Result<FramebufferText> FramebufferText::create(const Framebuffer& framebuffer, std::byte* pixels) {
  const std::uint32_t bits = framebuffer.bits_per_pixel;
  if (bits != 32 && bits != 24) {
    return Error::of(ErrorCode::unsupported, "expected a framebuffer of 24 or 32 bits a pixel, found ", bits);
  }
  if (framebuffer.width < 2 * margin || framebuffer.height < 2 * margin) {
    return Error::of(ErrorCode::corrupt, "expected a screen, found ", framebuffer.width, " by ", framebuffer.height,
                     " pixels");
  }
  if (framebuffer.pitch / (bits / 8) < framebuffer.width) {
    return Error::of(ErrorCode::corrupt, "expected lines of ", framebuffer.width, " pixels, found ", framebuffer.pitch,
                     " bytes from one to the next");
  }
  return FramebufferText(framebuffer, pixels);
}

std::uint32_t FramebufferText::columns() const { return (framebuffer_.width - 2 * margin) / glyph_width; }
std::uint32_t FramebufferText::rows() const { return (framebuffer_.height - 2 * margin) / glyph_height; }

void FramebufferText::clear() {
  __builtin_memset(pixels_, paper, std::size_t{framebuffer_.pitch} * framebuffer_.height);
}

void FramebufferText::draw(std::uint32_t column, std::uint32_t row, char character) {
  const Glyph& glyph = glyph_of(character);
  const std::uint32_t pixel_bytes = framebuffer_.bits_per_pixel / 8;
  for (std::uint32_t line = 0; line < glyph_height; ++line) {
    std::byte* pixel = pixels_ + std::size_t{margin + row * glyph_height + line} * framebuffer_.pitch +
                       std::size_t{margin + column * glyph_width} * pixel_bytes;
    for (std::uint32_t bit = 0x80; bit != 0; bit >>= 1, pixel += pixel_bytes) {
      const std::uint32_t colour = (glyph[line] & bit) != 0 ? ink : paper;
      if (pixel_bytes == 4) {
        *reinterpret_cast<volatile std::uint32_t*>(pixel) = colour;
      } else {
        for (std::uint32_t byte = 0; byte < 3; ++byte) {
          const_cast<volatile std::byte*>(pixel)[byte] = static_cast<std::byte>(colour >> (8 * byte));
        }
      }
    }
  }
}

}  // namespace ingot::os
