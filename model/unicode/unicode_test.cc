#include <gtest/gtest.h>

#include <algorithm>

#include "model/unicode/letter_case.h"
#include "model/unicode/normalization.h"
#include "model/unicode/properties.h"

namespace ingot {
namespace {

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

TEST(Unicode, PropertiesBesidesCategories) {
  EXPECT_TRUE(is_digit('7') && is_digit(0xb2) && !is_digit(0xbd)) << "a superscript is one, a fraction none";
  EXPECT_TRUE(is_number(0xbd) && is_number(0x4e09) && !is_number(0x6211)) << "the ideograph of three";
  EXPECT_TRUE(is_lowercase('a') && is_lowercase(0xaa) && !is_lowercase('A')) << "an ordinal's letter";
  EXPECT_TRUE(is_uppercase('A') && is_uppercase(0x2160) && !is_uppercase('a')) << "a Roman numeral";
  EXPECT_TRUE(is_lowercase(0x1e030)) << "new in Unicode 15";
  EXPECT_FALSE(is_digit(code_point_limit) || is_number(code_point_limit) || is_lowercase(code_point_limit));
}

std::vector<CodePoint> list_of(const CaseMapping& mapping) { return {mapping.begin(), mapping.end()}; }

TEST(Unicode, OneCodePointMayBecomeThree) {
  using List = std::vector<CodePoint>;
  EXPECT_EQ(list_of(uppered(0xdf)), (List{'S', 'S'}));
  EXPECT_EQ(list_of(titled(0xdf)), (List{'S', 's'}));
  EXPECT_EQ(list_of(folded(0xdf)), (List{'s', 's'}));
  EXPECT_EQ(list_of(lowered(0xdf)), (List{0xdf}));
  EXPECT_EQ(list_of(uppered(0xfb03)), (List{'F', 'F', 'I'}));
  EXPECT_EQ(list_of(lowered(0x130)), (List{'i', 0x307}));
  EXPECT_EQ(list_of(titled(0x1c6)), (List{0x1c5}));
  EXPECT_EQ(list_of(uppered(0x1c8a)), (List{0x1c89})) << "new in Unicode 16";
  EXPECT_EQ(list_of(uppered(code_point_limit)), (List{code_point_limit}));
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

}  // namespace
}  // namespace ingot
