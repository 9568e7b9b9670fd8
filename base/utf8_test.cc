#include "base/utf8.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ingot {
namespace {

TEST(Utf8, EveryCodePointSurvives) {
  for (CodePoint code = 0; code < code_point_limit; ++code) {
    if (code >= 0xd800 && code <= 0xdfff) continue;
    std::string text;
    append_utf8(text, code);
    const DecodedCharacter decoded = decode_utf8(text, 0);
    ASSERT_TRUE(decoded.is_valid && decoded.code == code && decoded.size == text.size()) << code;
  }
}

void expect_invalid(std::string_view text) {
  const DecodedCharacter decoded = decode_utf8(text, 0);
  EXPECT_FALSE(decoded.is_valid) << text;
  EXPECT_EQ(decoded.code, replacement_character);
  EXPECT_EQ(decoded.size, 1);
}

TEST(Utf8, OverlongFormsAreInvalid) {
  for (const char* text :
       {"\xc0\x80", "\xc0\xaf", "\xc1\xbf", "\xe0\x80\x80", "\xe0\x9f\xbf", "\xf0\x80\x80\x80", "\xf0\x8f\xbf\xbf"}) {
    expect_invalid(text);
  }
  EXPECT_EQ(decode_utf8("\xe0\xa0\x80", 0).code, 0x800u);
  EXPECT_EQ(decode_utf8("\xf0\x90\x80\x80", 0).code, 0x10000u);
}

TEST(Utf8, SurrogatesAreInvalid) {
  for (CodePoint code = 0xd800; code <= 0xdfff; ++code) {
    std::string text;
    append_utf8(text, code);
    expect_invalid(text);
  }
  EXPECT_TRUE(decode_utf8("\xed\x9f\xbf", 0).is_valid);
  EXPECT_TRUE(decode_utf8("\xee\x80\x80", 0).is_valid);
}

TEST(Utf8, ValuesBeyondTheLastPlaneAreInvalid) {
  EXPECT_EQ(decode_utf8("\xf4\x8f\xbf\xbf", 0).code, code_point_limit - 1);
  for (const char* text :
       {"\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xf7\xbf\xbf\xbf", "\xf8\x88\x80\x80\x80", "\xff"}) {
    expect_invalid(text);
  }
}

TEST(Utf8, TruncatedAndStrayBytesAreInvalid) {
  for (const char* text : {"\x80", "\xbf", "\xc3", "\xe2\x82", "\xf0\x9f\x98", "\xc3(", "\xe2\x82(", "\xf0\x9f\x98("}) {
    expect_invalid(text);
  }
  // What lies behind the view is not looked at.
  EXPECT_FALSE(decode_utf8(std::string_view("\xe2\x82\xac").substr(0, 2), 0).is_valid);
}

TEST(Utf8, IncompleteIsToldFromInvalid) {
  EXPECT_EQ(incomplete_sequence_size("\xe2\x82", 0), 3u);
  EXPECT_EQ(incomplete_sequence_size("\xf4", 0), 4u);
  EXPECT_EQ(incomplete_sequence_size("\xed\x9f", 0), 3u);
  EXPECT_EQ(incomplete_sequence_size("\xed\xa0", 0), 0u);
  EXPECT_EQ(incomplete_sequence_size("\xe0\x80", 0), 0u);
  EXPECT_EQ(incomplete_sequence_size("\x80", 0), 0u);
  EXPECT_EQ(incomplete_sequence_size("\xc3\x28", 0), 0u);
}

TEST(Utf8, SteppingBackEndsWhereSteppingForwardDoes) {
  for (const std::string text : {"a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\x80\x80\x80\x80\x80", "\xe2\x82",
                                 "\xc3\xa9\xa9", "\xf0\x9f\x98\x80\x80", "\xed\xa0\x80"}) {
    std::vector<std::size_t> forward, back;
    for (std::size_t at = 0; at < text.size(); at += decode_utf8(text, at).size) forward.push_back(at);
    for (std::size_t at = text.size(); at > 0;) back.insert(back.begin(), at = previous_character(text, at));
    EXPECT_EQ(forward, back) << text;
  }
}

TEST(Utf8, NeedsNeitherHeapNorLibrary) {
  static_assert(decode_utf8("\xe2\x82\xac", 0).code == 0x20ac);
  static_assert(incomplete_sequence_size("\xe2\x82", 0) == 3);
  static_assert(count_characters("a\xe2\x82\xac") == 2);
  static_assert(continues_character('\x82') && !continues_character('a') && !continues_character('\xe2'));
}

}  // namespace
}  // namespace ingot
