#include "model/grammar/token_masks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "model/grammar/gbnf.h"
#include "model/grammar/json_schema.h"
#include "model/grammar/regular_expression.h"
#include "model/grammar/test_grammars.h"

namespace ingot::grammar {
namespace {

// Bytes, and pieces as vocabularies have them: with quotes inside, half a character, spaces, some twice.
std::vector<std::string> json_pieces() {
  std::vector<std::string> pieces;
  for (unsigned byte = 0; byte < 256; ++byte) pieces.emplace_back(1, static_cast<char>(byte));
  for (const char* piece : {"\", \"",       "\":",      "\": ",  "{\"",    "\"}",   "\"]",
                            "], [",         "true",     "fal",   "null",   "na",    "name",
                            "\"name\": \"", "12",       "345",   "0.",     ".5",    "e+",
                            "    ",         "\n  ",     "hello", " world", "hello", "\\\"",
                            "\\u00",        "\xE2\x82", "\xACy", "},{",    "x\", ", "aaaaaaaaaaaaaaaaaaaaaaaa",
                            "a\"b\"c"}) {
    pieces.emplace_back(piece);
  }
  pieces.emplace_back("");
  return pieces;
}

struct Vocabulary {
  std::vector<std::string> pieces = json_pieces();
  std::vector<std::string_view> views = views_of(pieces);
  std::vector<TokenId> ends{static_cast<TokenId>(pieces.size() - 1)};
  std::shared_ptr<const TokenTrie> trie = TokenTrie::create(views, ends).value();
};

SharedGrammar schema(std::string_view text) {
  auto grammar = compile_json_schema(text, {}, unhurried);
  EXPECT_TRUE(grammar.ok()) << text << ": " << (grammar.ok() ? "" : grammar.error().text());
  return std::move(grammar).value();
}

// Along texts drawn at random, the masks are those of the slow way.
void expect_right_masks(const SharedGrammar& grammar, TokenMasks& masks, const Vocabulary& vocabulary,
                        std::string_view text) {
  std::mt19937 random(3);
  for (int walk = 0; walk < 12; ++walk) {
    GrammarState state(grammar);
    for (int step = 0; step < 25; ++step) {
      const auto mask = masks.mask(state).value();
      ASSERT_TRUE(*mask == slow_mask(state, vocabulary.views, vocabulary.ends)) << text;
      ASSERT_FALSE(state.stacks().has_overflown()) << text;
      std::vector<TokenId> allowed;
      for (std::size_t id = 0; id + 1 < vocabulary.pieces.size(); ++id) {
        if (mask->allows(static_cast<TokenId>(id))) allowed.push_back(static_cast<TokenId>(id));
      }
      if (allowed.empty()) break;
      const TokenId chosen = allowed[random() % allowed.size()];
      ASSERT_TRUE(state.accept(vocabulary.pieces[static_cast<std::size_t>(chosen)]));
    }
  }
}

TEST(TokenMasks, OfSchemasAreWhatEveryTokenTriedGives) {
  const Vocabulary vocabulary;
  for (
      const char* text :
      {"true",
       R"({"type": "object", "properties": {"name": {"type": "string", "maxLength": 9}, "n": {"type": "integer", "minimum": 3, "maximum": 1234}}})",
       R"({"type": "array", "items": {"type": "string", "minLength": 3, "maxLength": 5}, "minItems": 2, "maxItems": 3})",
       R"({"type": "object", "patternProperties": {"^n": {"type": "number"}}, "additionalProperties": {"$ref": "#"}})",
       R"({"type": "string", "pattern": "^(na)+x?$", "maxLength": 7})"}) {
    const auto grammar = schema(text);
    TokenMasks masks(grammar, vocabulary.trie);
    expect_right_masks(grammar, masks, vocabulary, text);
  }
}

// Each byte may end rounds of all three, so that there are hundreds of frames at once: a mask must not take a walk
// through the vocabulary for each of them.
TEST(TokenMasks, OfNestedRepetitionsTakeAFewWalksEach) {
  const Vocabulary vocabulary;
  for (const char* pattern :
       {"(?:(?:[a-z ]{1,9}){1,9}){1,70}", "(?:(?:[a-z ]{1,9}x?){2,9}na){1,7}", "(?:[a-z]{1,9}){1,5}"}) {
    auto grammar = compile_regular_expression(pattern);
    ASSERT_TRUE(grammar.ok()) << grammar.error().text();
    TokenMasks masks(grammar.value(), vocabulary.trie);
    expect_right_masks(grammar.value(), masks, vocabulary, pattern);
    const std::size_t walks = masks.counts().asked - masks.counts().found + masks.counts().inner;
    EXPECT_LE(masks.counts().followed, 2 * walks * vocabulary.trie->nodes().size()) << pattern;
  }
}

TEST(TokenMasks, InsideOfAStringTheyAreFound) {
  const Vocabulary vocabulary;
  const auto grammar =
      schema(R"({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}})");
  TokenMasks masks(grammar, vocabulary.trie);
  GrammarState state(grammar);
  ASSERT_TRUE(state.accept("{\"a\": \"x"));
  ASSERT_TRUE(masks.mask(state).ok());
  const std::size_t inner = masks.counts().inner;
  for (int step = 0; step < 10; ++step) {
    ASSERT_TRUE(state.accept("hello"));
    ASSERT_TRUE(masks.mask(state).ok());
  }
  EXPECT_EQ(masks.counts().found, 10u);
  // In another string the mask is another, but what happens inside of it is known.
  ASSERT_TRUE(state.accept("\", \"b\": \"x"));
  ASSERT_TRUE(masks.mask(state).ok());
  EXPECT_EQ(masks.counts().found, 10u);
  EXPECT_EQ(masks.counts().inner, inner);
}

TEST(TokenMasks, CountsShareWhatDoesNotDependOnThem) {
  const Vocabulary vocabulary;
  const auto grammar = schema(R"({"type": "string", "maxLength": 40})");
  TokenMasks masks(grammar, vocabulary.trie);
  GrammarState state(grammar);
  ASSERT_TRUE(state.accept("\"a"));
  ASSERT_TRUE(masks.mask(state).ok());
  const std::size_t inner = masks.counts().inner;
  for (int count = 2; count <= 40; ++count) {
    ASSERT_TRUE(state.accept("b"));
    const auto mask = masks.mask(state).value();
    const auto is_allowed = [&](std::string_view piece) {
      const auto place = std::ranges::find(vocabulary.pieces, piece);
      return mask->allows(static_cast<TokenId>(place - vocabulary.pieces.begin()));
    };
    EXPECT_EQ(is_allowed("hello"), count + 5 <= 40) << count;
    EXPECT_EQ(is_allowed("aaaaaaaaaaaaaaaaaaaaaaaa"), count + 24 <= 40) << count;
    EXPECT_TRUE(is_allowed("\""));
  }
  // The last count has no round left: there only the quote is followed, in a part of its own.
  EXPECT_LE(masks.counts().inner, inner + 1);
}

TEST(TokenMasks, EndsAreAllowedWhereTheTextMayEnd) {
  const Vocabulary vocabulary;
  const auto grammar = schema(R"({"type": "integer"})");
  TokenMasks masks(grammar, vocabulary.trie);
  GrammarState state(grammar);
  EXPECT_FALSE(masks.mask(state).value()->allows(vocabulary.ends[0]));
  ASSERT_TRUE(state.accept("12"));
  EXPECT_TRUE(masks.mask(state).value()->allows(vocabulary.ends[0]));
}

// Two callers of one rule, each with less than a state may have; together they have more, and accept() refuses.
TEST(TokenMasks, WhatTheyAllowIsAcceptedEvenWhereAStateWouldBeTooLarge) {
  std::string rules =
      "root ::= first \"!\" | second \"?\" | \"b\"\nfirst ::= \"a\" many\nsecond ::= \"a\" many\nmany ::= ";
  for (int way = 0; way < 5000; ++way) rules += (way == 0 ? "\"a\" \"" : " | \"a\" \"") + std::to_string(way) + "\"";
  auto grammar = compile_gbnf(rules);
  ASSERT_TRUE(grammar.ok()) << grammar.error().text();
  const std::vector<std::string_view> pieces{"a", "b", "aa", "c"};
  const auto trie = TokenTrie::create(pieces, {}).value();
  TokenMasks masks(grammar.value(), trie);
  GrammarState state(grammar.value());
  const auto mask = masks.mask(state).value();
  EXPECT_TRUE(*mask == slow_mask(state, pieces, {}));
  EXPECT_FALSE(mask->allows(0));
  EXPECT_TRUE(mask->allows(1));
}

// What a mask needs may fill the tables; the next token is taken all the same.
TEST(GrammarState, TakesATokenThoughItsTablesAreFull) {
  GrammarState state(schema(R"({"type": "string", "maxLength": 1000000000})"));
  ASSERT_TRUE(state.accept("\"b"));
  for (StateId walked = state.state(); !state.stacks().is_full();) {
    walked = state.stacks().step(walked, 'c');
    ASSERT_NE(walked, Stacks::dead);
  }
  EXPECT_FALSE(state.accept("d\n"));
  EXPECT_TRUE(state.accept("dd"));
  EXPECT_TRUE(state.accept("d\""));
  EXPECT_TRUE(state.can_end());
}

TEST(TokenMasks, ThatTakeTooMuchFailAndLeaveTheOthers) {
  const Vocabulary vocabulary;
  auto grammar = compile_gbnf("root ::= \"-\" [0-9] | \"+\" ([a-z]{1,40}){1,40}");
  ASSERT_TRUE(grammar.ok()) << grammar.error().text();
  TokenMasks masks(grammar.value(), vocabulary.trie, 5000);
  GrammarState state(grammar.value());
  EXPECT_TRUE(masks.mask(state).ok());
  GrammarState other = state;
  ASSERT_TRUE(state.accept("+abcdefghijklmnopqrstuvwxyz"));
  const auto failed = masks.mask(state);
  ASSERT_FALSE(failed.ok());
  EXPECT_NE(failed.error().text().find("at most 5000 steps"), std::string_view::npos);
  EXPECT_TRUE(masks.mask(other).ok());
}

TEST(TokenTrie, WhatIsTooLongOrNoTokenIsRefused) {
  const std::string long_piece(TokenTrie::longest_token + 1, 'a');
  const std::vector<std::string_view> pieces{"a", long_piece};
  EXPECT_FALSE(TokenTrie::create(pieces, {}).ok());
  const std::vector<TokenId> ends{7};
  EXPECT_FALSE(TokenTrie::create(std::span(pieces).first(1), ends).ok());
}

}  // namespace
}  // namespace ingot::grammar
