#include "server/http/percent.h"

#include <gtest/gtest.h>

namespace ingot::http {
namespace {

TEST(Percent, DecodesTwoDigitsInWhateverCase) {
  EXPECT_EQ(percent_decoded("a%20b%C3%a4+"), "a b\xc3\xa4+");
  EXPECT_EQ(percent_decoded("%25%32%30"), "%20");  // once
  EXPECT_EQ(percent_decoded("%00"), std::string(1, '\0'));
  EXPECT_EQ(percent_decoded(""), "");
}

TEST(Percent, DecodesNothingWhereDigitsAreMissing) {
  for (const std::string_view text : {"%", "%4", "a%", "%zz", "%4g", "%g4", "%%20", "%-1", "% 1"}) {
    EXPECT_EQ(percent_decoded(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace ingot::http
