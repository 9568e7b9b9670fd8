#include "os/device/line_discipline.h"

#include <gtest/gtest.h>

#include <string>

namespace ingot::os {
namespace {

struct Screen final : TerminalOutput {
  void put(std::uint8_t byte) override { text.push_back(static_cast<char>(byte)); }
  std::string text;
};

class TerminalLine : public ::testing::Test {
 protected:
  TerminalSignal type(std::string_view keys) {
    TerminalSignal last = TerminalSignal::none;
    for (char key : keys) last = line.receive(static_cast<std::uint8_t>(key), screen);
    return last;
  }
  // "(nothing)": a program that reads would have to wait.
  std::string read(std::size_t bytes = 100) {
    std::string text(bytes, '?');
    const std::optional<std::size_t> count = line.read(std::as_writable_bytes(std::span(text)));
    return count ? text.substr(0, *count) : "(nothing)";
  }
  void change(std::uint32_t TerminalSettings::* field, std::uint32_t off, std::uint32_t on) {
    TerminalSettings settings = line.settings();
    settings.*field = (settings.*field & ~off) | on;
    line.set(settings);
  }
  void make_raw(std::uint8_t minimum = 1, std::uint8_t time = 0) {
    TerminalSettings settings = line.settings();
    settings.local = 0;
    settings.input = settings.output = 0;
    settings.characters[terminal_character::minimum] = minimum;
    settings.characters[terminal_character::time] = time;
    line.set(settings);
  }

  LineDiscipline line;
  Screen screen;
};

TEST_F(TerminalLine, GivesALineOnlyOnceItIsEnded) {
  type("tell");
  EXPECT_FALSE(line.is_readable());
  EXPECT_EQ(read(), "(nothing)");
  type(" me\r");
  EXPECT_TRUE(line.is_readable());
  EXPECT_EQ(line.waiting(), 8u);
  EXPECT_EQ(read(), "tell me\n");
  EXPECT_EQ(read(), "(nothing)");
  EXPECT_EQ(screen.text, "tell me\r\n");
}

TEST_F(TerminalLine, GivesOneLineAReadAndALongOneInParts) {
  type("one\ntwo\n");
  EXPECT_EQ(read(2), "on");
  EXPECT_EQ(read(), "e\n");
  EXPECT_EQ(read(), "two\n");
}

TEST_F(TerminalLine, ErasesCharactersWordsAndLines) {
  type("cat\x7f\x7f");
  EXPECT_EQ(screen.text, "cat\b \b\b \b");
  type("ow and calf\x17\x17");
  type("\n");
  EXPECT_EQ(read(), "cow \n");
  type("all wrong\x15right\n");
  EXPECT_EQ(read(), "right\n");
  type("\x7f\x7f\n");  // an empty line has nothing to erase
  EXPECT_EQ(read(), "\n");
}

TEST_F(TerminalLine, ErasesAWholeCharacterOfUtf8) {
  change(&TerminalSettings::input, 0, terminal_input::utf8);
  type("\xc3\xa4\xe2\x82\xac\x7f\n");
  EXPECT_EQ(read(), "\xc3\xa4\n");
  EXPECT_EQ(screen.text, "\xc3\xa4\xe2\x82\xac\b \b\r\n");
}

TEST_F(TerminalLine, ShowsControlCharactersWithACaretAndErasesBoth) {
  type("\x01\x7f");
  EXPECT_EQ(screen.text, "^A\b \b\b \b");
}

TEST_F(TerminalLine, EndsTheFileOnAnEmptyLineAndPushesAFullOne) {
  type("\x04");
  EXPECT_TRUE(line.is_readable());
  EXPECT_EQ(read(), "");
  type("abc\x04");
  EXPECT_EQ(read(3), "abc");
  EXPECT_EQ(read(), "(nothing)");  // not an end of file as well
}

TEST_F(TerminalLine, TellsOfSignalsAndForgetsTheLine) {
  EXPECT_EQ(type("half a line\x03"), TerminalSignal::interrupt);
  EXPECT_EQ(screen.text, "half a line^C");
  type("next\n");
  EXPECT_EQ(read(), "next\n");
  EXPECT_EQ(type("\x1c"), TerminalSignal::quit);
  EXPECT_EQ(type("\x1a"), TerminalSignal::suspend);
  change(&TerminalSettings::local, terminal_local::signals, 0);
  EXPECT_EQ(type("\x03\n"), TerminalSignal::none);
  EXPECT_EQ(read(), "\x03\n");
}

TEST_F(TerminalLine, TakesTheNextCharacterLiterally) {
  type("\x16\x03\x16\x7f\n");
  EXPECT_EQ(read(), "\x03\x7f\n");
}

TEST_F(TerminalLine, StopsAndStartsOutput) {
  type("\x13");
  EXPECT_TRUE(line.is_stopped());
  type("\x11");
  EXPECT_FALSE(line.is_stopped());
}

TEST_F(TerminalLine, GivesRawBytesAtOnceAndShowsNothing) {
  make_raw();
  EXPECT_EQ(read(), "(nothing)");
  EXPECT_EQ(type("\x03\r"), TerminalSignal::none);
  EXPECT_TRUE(line.is_readable());
  EXPECT_EQ(read(1), "\x03");
  EXPECT_EQ(read(), "\r");
  EXPECT_EQ(screen.text, "");
  line.send('\n', screen);
  EXPECT_EQ(screen.text, "\n");
}

TEST_F(TerminalLine, WaitsInRawModeForAsManyAsWereAskedFor) {
  make_raw(3);
  type("ab");
  EXPECT_FALSE(line.is_readable());
  EXPECT_EQ(read(), "(nothing)");
  EXPECT_EQ(read(2), "ab");
  make_raw(0);
  EXPECT_EQ(read(), "");
  make_raw(0, 5);
  EXPECT_EQ(read(), "(nothing)");  // until the time has passed
}

TEST_F(TerminalLine, KeepsWhatWasTypedWhenTheModeChanges) {
  type("abc");
  make_raw();
  EXPECT_EQ(read(), "abc");
  type("de");
  line.set(TerminalSettings());
  EXPECT_EQ(read(), "de");
  type("f\n");
  EXPECT_EQ(read(), "f\n");
}

TEST_F(TerminalLine, DropsWhatDoesNotFitButCanAlwaysEndTheLine) {
  type(std::string(2 * LineDiscipline::room, 'x'));
  type("\n");
  const std::string text = read(2 * LineDiscipline::room);
  EXPECT_EQ(text.size(), LineDiscipline::room);
  EXPECT_EQ(text.back(), '\n');
  type("again\n");
  EXPECT_EQ(read(), "again\n");
}

TEST_F(TerminalLine, EchoesNoPasswordButItsNewline) {
  change(&TerminalSettings::local, terminal_local::echo, terminal_local::echo_newline);
  type("secret\x7f\n");
  EXPECT_EQ(read(), "secre\n");
  EXPECT_EQ(screen.text, "\r\n");
}

}  // namespace
}  // namespace ingot::os
