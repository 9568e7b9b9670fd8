// The log's lines stand in the memory of a card in text mode, those before the screen was found as well.
//
// boot-test: success
// boot-test: machine q35
// boot-test: device VGA
// boot-test: expect screen: 80 by 25 characters, by the card
// boot-test: expect vga: found 'ingot: starting'
// boot-test: expect vga: found 'a line for the screen'
// boot-test: expect vga: found 'after scrolling'
#include "os/boot/kernel.h"
#include "os/trace/panic.h"

namespace ingot::os {

namespace {

// Whether some row of the screen begins with the text.
bool shows(const volatile std::uint16_t* cells, std::string_view text) {
  for (std::size_t row = 0; row < 25; ++row) {
    std::size_t same = 0;
    while (same < text.size() && (cells[row * 80 + same] & 0xff) == static_cast<unsigned char>(text[same])) ++same;
    if (same == text.size()) return true;
  }
  return false;
}

}  // namespace

void run_payload(Kernel& kernel) {
  const Result<VirtualAddress> memory =
      kernel.memory->map_device(VgaText::memory, VgaText::memory_bytes, CacheMode::uncached);
  if (!memory.ok()) panic(memory.error());
  const auto* cells = reinterpret_cast<const volatile std::uint16_t*>(memory.value().value());
  const auto expect = [&](std::string_view text) {
    if (!shows(cells, text)) panic("expected '", text, "' on the screen, found other lines");
    kernel.log.information("vga: found '", text, "'");
  };
  expect("ingot: starting");
  kernel.log.information("a line for the screen");
  expect("a line for the screen");
  for (int line = 0; line < 30; ++line) kernel.log.information("filling the screen");
  kernel.log.information("after scrolling");
  expect("after scrolling");
  if (shows(cells, "ingot: starting")) panic("expected the first lines to leave the screen, found them");
}

}  // namespace ingot::os
