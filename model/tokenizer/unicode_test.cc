#include "model/tokenizer/unicode.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "model/tokenizer/byte_alphabet.h"
#include "model/tokenizer/code_set.h"
#include "model/tokenizer/normalization.h"

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

TEST(Utf8, WhatIsNoneIsOneReplacedByte) {
  // Continuation without a lead, overlong, surrogate, beyond the last plane, cut short.
  for (std::string_view text :
       {"\x80", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xff", "\xe2\x82"}) {
    const DecodedCharacter decoded = decode_utf8(text, 0);
    EXPECT_FALSE(decoded.is_valid) << text;
    EXPECT_EQ(decoded.code, replacement_character);
    EXPECT_EQ(decoded.size, 1);
  }
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

TEST(Unicode, CategoriesSpacesAndCase) {
  EXPECT_EQ(category_of('A'), Category::lu);
  EXPECT_EQ(category_of(0x1c5), Category::lt);
  EXPECT_EQ(category_of(0x301), Category::mn);
  EXPECT_EQ(category_of(0xb2), Category::no);
  EXPECT_EQ(category_of(0x6211), Category::lo);
  EXPECT_EQ(category_of(0x1f600), Category::so);
  EXPECT_EQ(category_of(0x1c89), Category::lu) << "new in Unicode 16";
  EXPECT_EQ(category_of(0x10ffff), Category::cn);
  EXPECT_EQ(category_of(code_point_limit), Category::cn);
  int spaces = 0;
  for (CodePoint code = 0; code < code_point_limit; ++code) spaces += is_white_space(code) ? 1 : 0;
  EXPECT_EQ(spaces, 25);
  EXPECT_EQ(lowercase_of(0x416), 0x436u);
  EXPECT_EQ(lowercase_of(0x1e900), 0x1e922u);
  EXPECT_EQ(lowercase_of(0x131), 0x131u);
  const std::vector<CodePoint> variants = case_variants('s');
  EXPECT_EQ(variants.size(), 3u);
  EXPECT_NE(std::find(variants.begin(), variants.end(), 0x17fu), variants.end());
}

TEST(CodeSet, UnionComplementAndIntersection) {
  const CodeSet letters = *CodeSet::of_property("L");
  const CodeSet han = *CodeSet::of_property("Han");
  EXPECT_TRUE(letters.contains('x') && letters.contains(0x6211) && !letters.contains('1'));
  const CodeSet both = letters.intersected(han.complement());
  EXPECT_TRUE(both.contains('x') && !both.contains(0x6211));
  EXPECT_TRUE(han.united(CodeSet({{'x', 'z'}})).contains('y'));
  EXPECT_FALSE(CodeSet::all().complement().contains(0));
  EXPECT_FALSE(CodeSet::of_property("Klingon").has_value());
}

TEST(Normalization, FormsOfTheStandard) {
  using enum NormalizationForm;
  EXPECT_EQ(normalized("e\xcc\x81", nfc), "\xc3\xa9");
  EXPECT_EQ(normalized("\xc3\xa9", nfd), "e\xcc\x81");
  EXPECT_EQ(normalized("\xef\xac\x80", nfkc), "ff");
  EXPECT_EQ(normalized("\xef\xac\x80", nfc), "\xef\xac\x80");
  EXPECT_EQ(normalized("\xe2\x84\xab", nfc), "\xc3\x85") << "the sign of the unit is the letter";
  // Marks are put in the order of their classes; an excluded composition stays apart.
  EXPECT_EQ(normalized("a\xcc\x81\xcc\xa3", nfd), "a\xcc\xa3\xcc\x81");
  EXPECT_EQ(normalized("\xe0\xa5\x98", nfc), "\xe0\xa4\x95\xe0\xa4\xbc");
  // A mark of the same class in between blocks composition.
  EXPECT_EQ(normalized("a\xcc\x82\xcc\x81", nfc), "\xe1\xba\xa5");
  EXPECT_EQ(normalized("a\xcc\xb0\xcc\xa3", nfc), "a\xcc\xb0\xcc\xa3");
  // Hangul, both ways.
  EXPECT_EQ(normalized("\xed\x95\x9c", nfd), "\xe1\x84\x92\xe1\x85\xa1\xe1\x86\xab");
  EXPECT_EQ(normalized("\xe1\x84\x92\xe1\x85\xa1\xe1\x86\xab", nfc), "\xed\x95\x9c");
  EXPECT_EQ(normalized("e\xff\xcc\x81", nfc), "e\xff\xcc\x81") << "bytes that are no UTF-8 stay and separate";
}

TEST(ByteAlphabet, EveryByteHasItsOwnLetter) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  EXPECT_EQ(bytes_of_spelled(spelled_bytes(all)), all);
  EXPECT_EQ(spelled_bytes(" \n"), "\xc4\xa0\xc4\x8a");
  EXPECT_FALSE(bytes_of_spelled("\xe2\x96\x81").has_value());
}

}  // namespace
}  // namespace ingot
