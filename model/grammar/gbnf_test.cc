#include "model/grammar/gbnf.h"

#include <gtest/gtest.h>

#include "model/grammar/choices.h"
#include "model/grammar/test_grammars.h"

namespace ingot::grammar {
namespace {

SharedGrammar gbnf(std::string_view text) {
  auto grammar = compile_gbnf(text);
  EXPECT_TRUE(grammar.ok()) << text << ": " << (grammar.ok() ? "" : grammar.error().text());
  return grammar.ok() ? std::move(grammar).value() : nullptr;
}

std::string error_of(std::string_view text) {
  const auto grammar = compile_gbnf(text);
  return grammar.ok() ? "" : std::string(grammar.error().text());
}

TEST(Gbnf, SequencesAlternativesAndGroups) {
  const auto grammar = gbnf("root ::= \"a\" (\"b\" | \"c\" \"d\") \"e\"");
  EXPECT_TRUE(takes(grammar, "abe"));
  EXPECT_TRUE(takes(grammar, "acde"));
  EXPECT_FALSE(takes(grammar, "ace"));
  EXPECT_FALSE(takes(grammar, "ab"));
  EXPECT_TRUE(begins(grammar, "ab"));
  EXPECT_FALSE(begins(grammar, "ad"));
  EXPECT_FALSE(begins(grammar, "abee"));
}

TEST(Gbnf, CountsAreExactWhateverTheirSize) {
  for (const int least : {0, 1, 3, 7, 300}) {
    for (const int most : {least, least + 1, least + 5}) {
      if (most == 0) continue;
      const auto grammar =
          gbnf("root ::= (\"ab\" | \"c\"){" + std::to_string(least) + "," + std::to_string(most) + "} \".\"");
      for (int count = 0; count < most + 3; ++count) {
        std::string text;
        for (int round = 0; round < count; ++round) text += round % 2 == 0 ? "ab" : "c";
        EXPECT_EQ(takes(grammar, text + "."), count >= least && count <= most) << least << " " << most << " " << count;
      }
    }
  }
  const auto at_least = gbnf("root ::= [a]{5,} \"b\"");
  EXPECT_FALSE(takes(at_least, "aaaab"));
  EXPECT_TRUE(takes(at_least, "aaaaab"));
  EXPECT_TRUE(takes(at_least, std::string(5000, 'a') + "b"));
}

TEST(Gbnf, ALargeCountTakesNoMoreRoomThanASmallOne) {
  const auto small = gbnf("root ::= ([a-z] \"-\"){9}");
  const auto large = gbnf("root ::= ([a-z] \"-\"){900000}");
  EXPECT_EQ(small->size_in_bytes(), large->size_in_bytes());
}

TEST(Gbnf, RoundsThatReadNothingDoNotCount) {
  const auto grammar = gbnf("root ::= part{5,9} \".\"\npart ::= \"a\"? \"b\"*");
  EXPECT_TRUE(takes(grammar, "."));
  EXPECT_TRUE(takes(grammar, "a."));
  EXPECT_TRUE(takes(grammar, "aaaaaaaaa."));
  EXPECT_FALSE(takes(grammar, "aaaaaaaaaa."));
  EXPECT_TRUE(takes(grammar, "bbbbbbbbbbbbbb."));
}

TEST(Gbnf, RulesNest) {
  const auto grammar = gbnf("root ::= \"(\" root \")\" | \"x\"");
  EXPECT_TRUE(takes(grammar, "((((x))))"));
  EXPECT_FALSE(takes(grammar, "((((x)))"));
  EXPECT_FALSE(begins(grammar, "((x)))"));
}

TEST(Gbnf, ARuleThatCallsItselfAtItsEndNeedsNoStack) {
  const auto grammar = gbnf("root ::= \"a\" root | \"b\"");
  GrammarState state(grammar);
  ASSERT_TRUE(state.accept("aa"));
  const std::size_t before = state.stacks().size_in_bytes();
  ASSERT_TRUE(state.accept(std::string(10000, 'a')));
  EXPECT_EQ(state.stacks().size_in_bytes(), before);
  EXPECT_TRUE(state.accept("b") && state.must_end());
}

TEST(Gbnf, CharactersAreCodePoints) {
  const auto grammar = gbnf("root ::= [\xC3\xA4-\xC3\xBC] [^a]{2} . \"\\u00e9\\x41\"");
  EXPECT_TRUE(takes(grammar,
                    "\xC3\xB6\xF0\x9F\x99\x82z\xE2\x82\xAC\xC3\xA9"
                    "A"));
  EXPECT_FALSE(begins(grammar, "\xC3\xBD"));
  EXPECT_FALSE(begins(grammar,
                      "\xC3\xB6"
                      "a"));
  // Overlong forms, surrogates and what lies beyond Unicode are no characters.
  const auto any = gbnf("root ::= .");
  for (const char* bytes :
       {"\xC0\x80", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80", "\xFF"}) {
    EXPECT_FALSE(begins(any, bytes)) << bytes;
  }
  for (const char* bytes :
       {"\xC2\x80", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xEE\x80\x80", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_TRUE(takes(any, bytes)) << bytes;
  }
}

TEST(Gbnf, LinesAndCommentsDoNotMatter) {
  const auto grammar = gbnf("# a comment\nroot ::=\n  item # more\n  | item\n    root\nitem ::= \"#\" [\\]\\-x]\n\n");
  EXPECT_TRUE(takes(grammar, "#]#-#x"));
  EXPECT_FALSE(takes(grammar, "#y"));
}

TEST(Gbnf, WhatCannotBeIsAnErrorThatSaysSo) {
  EXPECT_NE(error_of("root ::= other").find("'other'"), std::string::npos);
  EXPECT_NE(error_of("start ::= \"a\"").find("'root'"), std::string::npos);
  EXPECT_NE(error_of("root ::= \"a\"\nroot ::= \"b\"").find("one definition"), std::string::npos);
  EXPECT_NE(error_of("root ::= root \"a\" | \"b\"").find("'root'"), std::string::npos);
  EXPECT_NE(error_of("root ::= empty root \"a\" | \"b\"\nempty ::= \"c\"?").find("'root'"), std::string::npos);
  EXPECT_NE(error_of("root ::= a\na ::= b\nb ::= \"x\"* a \"y\" | \"z\"").find("call themselves"), std::string::npos);
  EXPECT_NE(error_of("root ::= \"a\" root").find("some text satisfies"), std::string::npos);
  EXPECT_NE(error_of("root ::= \"a\nb").find("'\"'"), std::string::npos);
  EXPECT_NE(error_of("root ::= \"a\" )").find("line 1"), std::string::npos);
  EXPECT_NE(error_of("root ::= \"a\\uD800\"").find("surrogates, found '\\uD800\"'"), std::string::npos);
  EXPECT_NE(error_of("root ::= \"a\xFF\"").find("expected UTF-8"), std::string::npos);
  EXPECT_NE(error_of("root ::= [z-a]").find("ascending"), std::string::npos);
  EXPECT_NE(error_of("root ::= \"a\"{3,2}").find("count"), std::string::npos);
  EXPECT_NE(error_of("root ::= \"a\"\n  \"b\"*+").find("line 2: expected one count only, found '+'"),
            std::string::npos);
  EXPECT_NE(error_of("root ::= \"a\"" + std::string(4000, '*')).find("one count"), std::string::npos);
  std::string twice = "root ::= \"a\"";
  for (int count = 0; count < 50'000; ++count) twice += "{2}";
  EXPECT_NE(error_of(twice).find("one count"), std::string::npos);
  EXPECT_NE(error_of("root ::= <[1000]>").find("found '<[1000]>'"), std::string::npos);
  EXPECT_NE(error_of("root ::= " + std::string(1000, '(')).find("nested"), std::string::npos);
}

TEST(Gbnf, AlternativesThatNeverEndAreNotEntered) {
  const auto grammar = gbnf("root ::= \"a\" (\"b\" trap | \"c\")\ntrap ::= \"d\" trap");
  EXPECT_FALSE(begins(grammar, "ab"));
  EXPECT_TRUE(takes(grammar, "ac"));
}

// A chain of calls is as long as a text allows: nothing may go down it by calling itself.
TEST(Gbnf, RulesThatMayBeEmptyMayBeManyInARow) {
  constexpr int count = 2000;
  std::string text = "root ::= rule0{2,9}\n";
  for (int rule = 0; rule < count; ++rule) {
    text += "rule" + std::to_string(rule) + " ::= rule" + std::to_string(rule + 1) + "? \"a\"?\n";
  }
  text += "rule" + std::to_string(count) + " ::= \"b\"?\n";
  auto grammar = compile_gbnf(text, {.time = std::chrono::minutes(1)});
  ASSERT_TRUE(grammar.ok()) << grammar.error().text();
  EXPECT_TRUE(takes(grammar.value(), ""));
  EXPECT_TRUE(takes(grammar.value(), "b"));
  EXPECT_FALSE(begins(grammar.value(), "c"));
}

TEST(Gbnf, LimitsAreErrorsWithTheReason) {
  std::string text = "root ::= \"a\"";
  for (int index = 0; index < 2000; ++index) text += " \"some words\" [a-z]";
  const auto grammar = compile_gbnf(text, {.bytes = 100'000, .time = std::chrono::minutes(1)});
  ASSERT_FALSE(grammar.ok());
  EXPECT_NE(grammar.error().text().find("100000 bytes"), std::string_view::npos) << grammar.error().text();
  EXPECT_TRUE(compile_gbnf(text, {.time = std::chrono::minutes(1)}).ok());
}

TEST(Choices, OneOfThem) {
  const std::vector<std::string> choices{"yes", "no", "yesterday", ""};
  auto grammar = compile_choices(choices);
  ASSERT_TRUE(grammar.ok());
  for (const std::string& choice : choices) EXPECT_TRUE(takes(grammar.value(), choice));
  EXPECT_FALSE(takes(grammar.value(), "yester"));
  EXPECT_FALSE(begins(grammar.value(), "nob"));
  EXPECT_FALSE(compile_choices({}).ok());
}

TEST(Choices, WhatIsNoTextIsNamed) {
  const std::vector<std::string> choices{"yes", "n\xFFo"};
  const auto grammar = compile_choices(choices);
  ASSERT_FALSE(grammar.ok());
  EXPECT_NE(grammar.error().text().find("expected choices in UTF-8, found 'n"), std::string_view::npos)
      << grammar.error().text();
}

TEST(Budget, LooksAtTheClockWhereMuchIsSpentAtOnceAndAfterManyCalls) {
  const CompileLimits late{.time = std::chrono::milliseconds(-1)};
  EXPECT_FALSE(Budget(late).spend(64u << 10).ok());
  EXPECT_FALSE(Budget(late).look().ok());
  Budget budget(late);
  int calls = 1;
  while (calls < 1000 && budget.spend(0).ok()) ++calls;
  EXPECT_EQ(calls, 64);
  EXPECT_FALSE(budget.spend(0).ok());
}

TEST(GrammarState, ARefusedTextChangesNothing) {
  GrammarState state(gbnf("root ::= \"abc\""));
  EXPECT_FALSE(state.accept("abd"));
  EXPECT_TRUE(state.accept("a"));
  GrammarState copy = state;
  EXPECT_TRUE(copy.accept("bc") && copy.can_end() && copy.must_end());
  EXPECT_FALSE(state.can_end());
  EXPECT_TRUE(state.accept("b"));
}

TEST(GrammarState, ForcedBytesAreThoseOfEveryContinuation) {
  GrammarState state(gbnf("root ::= \"{\\\"name\\\": \" (\"true\" | \"tree\" | \"tr\") \"}\" \"!\"?"));
  EXPECT_EQ(state.forced_bytes(), "{\"name\": tr");
  EXPECT_EQ(state.forced_bytes(5), "{\"nam");
  EXPECT_TRUE(state.accept("{\"name\": tru"));
  EXPECT_EQ(state.forced_bytes(), "e}");
  EXPECT_TRUE(state.accept("e}"));
  EXPECT_EQ(state.forced_bytes(), "");
}

TEST(GrammarState, LongTextsKeepNoMoreThanIsNeeded) {
  GrammarState state(gbnf("root ::= (\"a\" | \"bc\"){0,400000} \".\""));
  const std::string round(1000, 'a');
  std::size_t largest = 0;
  for (int count = 0; count < 300; ++count) {
    ASSERT_TRUE(state.accept(round));
    largest = std::max(largest, state.stacks().size_in_bytes());
  }
  EXPECT_LT(largest, Stacks::crowded_bytes + (8u << 20));
  EXPECT_TRUE(state.accept(std::string(100'000, 'a')));
  EXPECT_FALSE(state.accept("a"));
  EXPECT_TRUE(state.accept("."));
}

}  // namespace
}  // namespace ingot::grammar
