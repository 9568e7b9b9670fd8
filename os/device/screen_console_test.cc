#include "os/device/screen_console.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "os/device/fake_ports.h"
#include "os/device/font.h"
#include "os/device/framebuffer_text.h"
#include "os/device/vga_text.h"

namespace ingot::os {
namespace {

class FakeCanvas final : public Canvas {
 public:
  FakeCanvas(std::uint32_t columns, std::uint32_t rows) : lines(rows, std::string(columns, '*')) {}
  std::uint32_t columns() const override { return static_cast<std::uint32_t>(lines.front().size()); }
  std::uint32_t rows() const override { return static_cast<std::uint32_t>(lines.size()); }
  void clear() override {
    for (std::string& line : lines) line.assign(line.size(), ' ');
  }
  void draw(std::uint32_t column, std::uint32_t row, char character) override {
    lines.at(row).at(column) = character;
    ++drawn;
  }
  std::vector<std::string> lines;
  int drawn = 0;
};

using Lines = std::vector<std::string>;

TEST(ScreenConsole, BreaksLongLinesAndShowsWhatIsNotPrintableAsAQuestion) {
  FakeCanvas canvas(4, 5);
  const auto console = std::make_unique<ScreenConsole>(canvas);
  console->write_line("abcdefg");
  console->write_line("");
  console->write_line("\x1b\xff+");
  EXPECT_EQ(canvas.lines, (Lines{"abcd", "efg ", "    ", "??+ ", "    "}));
}

TEST(ScreenConsole, ScrollsByAQuarterAndDrawsOnlyWhatChanges) {
  FakeCanvas canvas(4, 8);
  const auto console = std::make_unique<ScreenConsole>(canvas);
  for (char line = '1'; line <= '8'; ++line) console->write_line(std::string("l") + line);
  canvas.drawn = 0;
  console->write_line("end");
  EXPECT_EQ(canvas.lines, (Lines{"l3  ", "l4  ", "l5  ", "l6  ", "l7  ", "l8  ", "end ", "    "}));
  EXPECT_EQ(canvas.drawn, 6 + 2 * 2 + 3);  // six numbers, two lines cleared, three letters
}

TEST(ScreenConsole, UsesNoMoreOfAHugeScreenThanItRemembers) {
  FakeCanvas canvas(200, 300);
  const auto console = std::make_unique<ScreenConsole>(canvas);
  for (int line = 0; line < 1000; ++line) console->write_line(std::string(125, 'x'));
  EXPECT_EQ(canvas.lines[ScreenConsole::most_rows], std::string(200, ' '));
}

TEST(Font, HasADifferentDrawingForEveryCharacter) {
  std::set<Glyph> seen;
  for (char character = ' '; character <= '~'; ++character) {
    const Glyph& glyph = glyph_of(character);
    EXPECT_TRUE(seen.insert(glyph).second) << character;
    EXPECT_EQ(glyph.front() | glyph.back(), 0) << character;                  // lines do not touch
    for (const std::uint8_t row : glyph) EXPECT_EQ(row & 1, 0) << character;  // nor letters
  }
  EXPECT_EQ(&glyph_of('\n'), &glyph_of('?'));
}

// The pixels of a cell as text.
template <class IsInk>
std::string picture(IsInk&& is_ink) {
  std::string text;
  for (std::uint32_t y = 0; y < glyph_height; ++y) {
    for (std::uint32_t x = 0; x < glyph_width; ++x) text.push_back(is_ink(x, y) ? '#' : '.');
    text.push_back('\n');
  }
  return text;
}

TEST(FramebufferText, DrawsInBothDepths) {
  const std::string letter =
      "........\n........\n........\n........\n........\n#.###...\n##...#..\n#....#..\n#....#..\n#....#..\n##...#..\n#."
      "###...\n"
      "#.......\n#.......\n#.......\n........\n";
  for (const std::uint8_t bits : {std::uint8_t{32}, std::uint8_t{24}}) {
    const std::uint32_t bytes = bits / 8, pitch = 32 * bytes + 20;
    std::vector<std::uint32_t> storage(pitch * 48 / 4, 0xeeeeeeee);
    auto* pixels = reinterpret_cast<std::byte*>(storage.data());
    Result<FramebufferText> canvas = FramebufferText::create({PhysicalAddress(0), 32, 48, pitch, bits}, pixels);
    ASSERT_TRUE(canvas.ok());
    EXPECT_EQ(canvas.value().columns(), 3u);
    EXPECT_EQ(canvas.value().rows(), 2u);
    canvas.value().draw(1, 1, 'p');
    const auto at = [&](std::uint32_t x, std::uint32_t y) { return pixels[y * pitch + x * bytes]; };
    EXPECT_EQ(picture([&](std::uint32_t x, std::uint32_t y) { return at(12 + x, 20 + y) == std::byte{0xd0}; }), letter);
    for (const auto& [x, y] : {std::pair{11, 20}, {20, 20}, {12, 19}, {12, 36}}) {
      EXPECT_EQ(at(static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y)), std::byte{0xee});  // untouched
    }
    canvas.value().clear();
    EXPECT_EQ(storage, std::vector<std::uint32_t>(storage.size()));
  }
}

TEST(FramebufferText, RefusesWhatItCannotDrawOn) {
  EXPECT_FALSE(FramebufferText::create({PhysicalAddress(0), 640, 480, 1280, 16}, nullptr).ok());
  EXPECT_FALSE(FramebufferText::create({PhysicalAddress(0), 640, 480, 2559, 32}, nullptr).ok());
  EXPECT_FALSE(FramebufferText::create({PhysicalAddress(0), 640, 7, 2560, 32}, nullptr).ok());
}

// A card's registers: sets behind pairs of ports.
class FakeVga final : public FakePorts {
 public:
  std::map<std::uint16_t, std::map<std::uint32_t, std::uint32_t>> sets{
      {0x3ce, {{6, 0x0e}}}, {0x3d4, {{1, 79}, {7, 0x1f}, {9, 0x4f}, {0x12, 0x8f}}}};
  std::uint32_t read(std::uint16_t port, unsigned) override {
    if (port == 0x3cc) return 0x67;
    const auto set = static_cast<std::uint16_t>(port - 1);
    return sets[set][selected_[set]];
  }
  void write(std::uint16_t port, std::uint32_t value, unsigned) override {
    if (sets.contains(port)) {
      selected_[port] = value;
    } else {
      const auto set = static_cast<std::uint16_t>(port - 1);
      sets[set][selected_[set]] = value;
    }
  }

 private:
  std::map<std::uint16_t, std::uint32_t> selected_;
};

TEST(VgaText, IsFoundByTheRegistersOfItsMode) {
  EXPECT_FALSE(VgaText::size().has_value());  // no ports at all
  FakeVga card;
  ASSERT_TRUE(VgaText::size().has_value());
  EXPECT_EQ(VgaText::size()->columns, 80u);
  EXPECT_EQ(VgaText::size()->rows, 25u);
  card.sets[0x3ce][6] = 0x05;  // pixels
  EXPECT_FALSE(VgaText::size().has_value());
}

TEST(VgaText, WritesGreyLettersAndHidesTheCursor) {
  FakeVga card;
  std::vector<std::uint16_t> cells(80 * 25);
  VgaText canvas(*VgaText::size(), cells.data());
  EXPECT_EQ(card.sets[0x3d4][0x0a], 0x20u);
  canvas.draw(2, 1, 'x');
  EXPECT_EQ(cells[82], 0x0700 | 'x');
}

}  // namespace
}  // namespace ingot::os
