#include "model/grammar/regular_expression.h"

#include <gtest/gtest.h>

#include <regex>

#include "model/grammar/regular_expression_parser.h"
#include "model/grammar/test_grammars.h"

namespace ingot::grammar {
namespace {

SharedGrammar regular(std::string_view pattern) {
  auto grammar = compile_regular_expression(pattern);
  EXPECT_TRUE(grammar.ok()) << pattern << ": " << (grammar.ok() ? "" : grammar.error().text());
  return grammar.ok() ? std::move(grammar).value() : nullptr;
}

Result<SharedGrammar> anywhere(std::string_view pattern, Spelling spelling) {
  Budget budget({});
  Expressions expressions(budget);
  const ExpressionId root = TRY(read_regular_expression(expressions, pattern, Matching::anywhere, spelling));
  return compile(expressions, root);
}

// All texts over a few characters against the standard library's matcher.
TEST(RegularExpression, TakesWhatTheStandardLibraryMatches) {
  for (const char* pattern :
       {"a|b", "(ab|c)*", "a+b?c", "[^a]b{2,3}", "(?:a{1,2}){2}", "(a|ab)(c|bcd)?", "a*?b+?", "[a-b]{3,}", "(a*)*b",
        "()|b", "a{0,2}(b|$)", "(^a|b)c", "\\x61\\u0062", "[\\w]\\d?", "(a?){5}b", "\\D\\W?", "(?<name>a)b", ".b."}) {
    auto search = anywhere(pattern, Spelling::plain);
    ASSERT_TRUE(search.ok()) << pattern << ": " << search.error().text();
    const auto whole = regular(pattern);
    std::string plain = pattern;
    if (plain.starts_with("(?<name>")) plain = "(a)b";
    const std::regex expected(plain);
    for (std::uint32_t number = 0; number < 1 + 4 + 16 + 64 + 256 + 1024; ++number) {
      std::string text;
      for (std::uint32_t rest = number; rest > 0; rest = (rest - 1) / 4) text += "abc1"[(rest - 1) % 4];
      ASSERT_EQ(takes(whole, text), std::regex_match(text, expected)) << pattern << " '" << text << "'";
      ASSERT_EQ(takes(search.value(), text), std::regex_search(text, expected)) << pattern << " '" << text << "'";
    }
  }
}

TEST(RegularExpression, AnchorsHoldWhereTheyStand) {
  const auto matches = [](std::string_view pattern, std::string_view text) {
    auto grammar = anywhere(pattern, Spelling::plain);
    EXPECT_TRUE(grammar.ok()) << pattern;
    return takes(grammar.value(), text);
  };
  EXPECT_TRUE(matches("b", "abc"));
  EXPECT_FALSE(matches("^b", "abc"));
  EXPECT_TRUE(matches("^a", "abc"));
  EXPECT_FALSE(matches("^ab$", "abc"));
  EXPECT_TRUE(matches("^a|b$", "ax"));
  EXPECT_TRUE(matches("^a|b$", "xb"));
  EXPECT_FALSE(matches("^a|b$", "xbx"));
  EXPECT_FALSE(matches("^(a|b)$", "ab"));
  EXPECT_TRUE(matches("", "anything"));
  EXPECT_TRUE(matches("^", "x\ny"));
  EXPECT_FALSE(matches("^$", "x"));
}

TEST(RegularExpression, CharactersAreCodePoints) {
  const auto grammar = regular("\\p{L}{2}\\u{1F642}\\uD83D\\uDE42[^x]");
  EXPECT_TRUE(takes(grammar, "\xC3\xA4z\xF0\x9F\x99\x82\xF0\x9F\x99\x82\xE2\x82\xAC"));
  EXPECT_FALSE(begins(grammar,
                      "\xC3\xA4"
                      "1"));
}

TEST(RegularExpression, JsonSpellsWhatItMust) {
  auto grammar = anywhere("^[^a]*\"\\n$", Spelling::json);
  ASSERT_TRUE(grammar.ok());
  EXPECT_TRUE(takes(grammar.value(), "b\\\\\\u0000\\\"\\n"));
  EXPECT_FALSE(begins(grammar.value(), "b\""));
  EXPECT_FALSE(begins(grammar.value(), "\\u0062"));  // there is one spelling of each text
}

TEST(RegularExpression, ReadingIsWithinTheLimits) {
  std::string letters;
  for (int count = 0; count < 1000; ++count) letters += "\\p{L}";
  Budget small({.bytes = 100'000, .time = std::chrono::minutes(1)});
  const auto large = parse_regular_expression(letters, small);
  ASSERT_FALSE(large.ok());
  EXPECT_NE(large.error().text().find("100000 bytes"), std::string_view::npos) << large.error().text();
  // What fills no memory looks at the clock.
  Budget late({.time = std::chrono::milliseconds(-1)});
  const auto slow = parse_regular_expression("[\\p{L}]", late);
  ASSERT_FALSE(slow.ok());
  EXPECT_NE(slow.error().text().find("takes longer"), std::string_view::npos) << slow.error().text();
}

TEST(RegularExpression, TooLongAPatternIsRefusedByItsLength) {
  const auto grammar = compile_regular_expression(std::string((64u << 10) + 1, 'a'));
  ASSERT_FALSE(grammar.ok());
  EXPECT_EQ(grammar.error().text(), "expected a pattern of at most 65536 bytes, found one of 65537");
  EXPECT_TRUE(compile_regular_expression(std::string(1000, 'a')).ok());
}

TEST(RegularExpression, WhatNoAutomatonCanDoIsNamed) {
  for (const auto& [pattern, named] : {std::pair("a(?=b)", "'?=b)'"),
                                       {"(a)\\1", "'\\1'"},
                                       {"\\ba", "'\\ba'"},
                                       {"a^b", "anchors"},
                                       {"(?<!a)b", "'?<!a)b'"},
                                       {"a**", "one count"},
                                       {"[b-a]", "ascending"},
                                       {"(a", "')'"},
                                       {"a{2,1}", "count"},
                                       {"\\p{Klingon}", "Klingon"}}) {
    const auto grammar = compile_regular_expression(pattern);
    ASSERT_FALSE(grammar.ok()) << pattern;
    EXPECT_NE(grammar.error().text().find(named), std::string_view::npos) << grammar.error().text();
  }
}

}  // namespace
}  // namespace ingot::grammar
