#include "image/escape_filter.h"

#include <gtest/gtest.h>

namespace ingot::image {
namespace {

std::string passed(EscapeCodes kept, std::string_view text) { return EscapeFilter(kept).pass(text); }

constexpr std::string_view console =
    "\x1b[2mOnce\x1b[0m upon\r\n\x1b[K\x1b]0;a title\a a \x1b(B\x1b"
    "7time\x1b]8;;x\x1b\\.\x1b[1;31m";

TEST(EscapeFilter, AFileGetsTheTextAlone) { EXPECT_EQ(passed(EscapeCodes::none, console), "Once upon\r\n a time."); }

TEST(EscapeFilter, ATerminalWithoutColoursStillMovesItsCursor) {
  EXPECT_EQ(passed(EscapeCodes::no_colours, console),
            "Once upon\r\n\x1b[K\x1b]0;a title\a a \x1b(B\x1b"
            "7time\x1b]8;;x\x1b\\.");
}

TEST(EscapeFilter, ATerminalGetsAll) { EXPECT_EQ(passed(EscapeCodes::all, console), console); }

TEST(EscapeFilter, CodesMayComeInPieces) {
  EscapeFilter filter(EscapeCodes::none);
  std::string output;
  for (const char byte : console) output += filter.pass({&byte, 1});
  EXPECT_EQ(output, passed(EscapeCodes::none, console));
}

TEST(EscapeFilter, ABrokenCodeSwallowsNoMoreThanItsLine) {
  EXPECT_EQ(passed(EscapeCodes::none, "a\x1b]never ended\nb\x1b[12\nc"), "a\nb\nc");
}

}  // namespace
}  // namespace ingot::image
