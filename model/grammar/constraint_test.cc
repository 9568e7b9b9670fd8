#include "model/grammar/constraint.h"

#include <gtest/gtest.h>

#include <thread>

#include "model/grammar/constraints.h"
#include "model/grammar/text_constraint.h"
#include "model/tokenizer/test_vocabularies.h"

namespace ingot::grammar {
namespace {

constexpr TokenId end_token = 0;

Tokenizer tokenizer_of(std::vector<std::string> pieces) {
  TokenizerDescription description;
  description.tokens = {"</s>"};
  description.tokens.insert(description.tokens.end(), pieces.begin(), pieces.end());
  description.types.assign(description.tokens.size(), TokenType::normal);
  description.types[end_token] = TokenType::control;
  description.eos = end_token;
  description.end_of_generation = {end_token};
  return Tokenizer::create(std::move(description)).value();
}

class ConstraintTest : public testing::Test {
 protected:
  std::shared_ptr<const Constraint> choices(std::vector<std::string> texts, const Trigger& trigger = {}) {
    return constraints_.of({.kind = GrammarSource::Kind::choices, .choices = std::move(texts)}, trigger).value();
  }
  // Whether the text takes the token so spelled.
  bool takes(TextConstraint& text, std::string_view piece) const {
    const TokenId token = tokenizer_.find(piece);
    EXPECT_NE(token, no_token) << piece;
    return text.accept(token);
  }
  bool allows(TextConstraint& text, std::string_view piece) const {
    const auto mask = text.allowed().value();
    return mask == nullptr || mask->allows(tokenizer_.find(piece));
  }

  Tokenizer tokenizer_ = tokenizer_of({"a", "b", "c", "<", "call", ">", "<call>", ">a", ">c", "ab", "x<ca", "ll>b"});
  Constraints constraints_{tokenizer_};
};

TEST_F(ConstraintTest, TextsOfOneGrammarFindEachOthersMasks) {
  const auto constraint = choices({"ab", "ac"});
  for (int i = 0; i < 3; ++i) {
    TextConstraint text(constraint);
    EXPECT_TRUE(allows(text, "a"));
    EXPECT_FALSE(allows(text, "b"));
    EXPECT_TRUE(takes(text, "a"));
    EXPECT_TRUE(allows(text, "b") && allows(text, "c"));
    EXPECT_FALSE(takes(text, "a"));
    EXPECT_TRUE(takes(text, i % 2 == 0 ? "b" : "c"));
    EXPECT_TRUE(text.must_end());
    EXPECT_TRUE(text.accept(end_token));
  }
  const TokenMasks::Counts counts = constraint->mask_counts();
  EXPECT_EQ(counts.asked - counts.found, 2u);
}

TEST_F(ConstraintTest, ATriggerSwitchesTheGrammarOnWhereverTokensEnd) {
  const auto constraint = choices({"<call>a", "<call>b"}, {.text = "<call>"});
  for (const std::vector<std::string>& pieces : std::vector<std::vector<std::string>>{
           {"b", "c", "<call>"}, {"<", "<", "call", ">"}, {"x<ca", "x<ca", "ll>b"}, {"<", "call", ">a"}}) {
    TextConstraint text(constraint);
    for (const std::string& piece : pieces) {
      EXPECT_FALSE(text.is_held() || text.must_end());
      EXPECT_TRUE(text.can_end() && text.allowed().value() == nullptr);
      EXPECT_TRUE(takes(text, piece)) << piece;
    }
    EXPECT_TRUE(text.is_held());
    if (pieces.back().back() == '>') {
      EXPECT_FALSE(text.can_end() || allows(text, "c"));
      EXPECT_TRUE(takes(text, "a"));
    }
    EXPECT_TRUE(text.must_end());
  }
}

TEST_F(ConstraintTest, ATriggerInAThoughtIsAWord) {
  struct Row {
    bool begins_in_thought;
    std::vector<std::string> pieces;
    bool is_held;
  };
  const Tokenizer tokenizer =
      tokenizer_of({"a", "b", "c", "<", "t", "<t>", " ", "</t>", "<call>", "t></", "t><ca", "ll>"});
  Constraints constraints(tokenizer);
  for (const Row& row : std::vector<Row>{{false, {"<t>", "<call>", "a"}, false},
                                         {false, {" ", "<t>", "<call>", "</t>", "<call>"}, true},
                                         {false, {"<", "t></", "t><ca", "ll>"}, true},
                                         {false, {"<", "t><ca", "ll>", "</t>", " ", "<t>", "<call>"}, false},
                                         {false, {"a", "<t>", "<call>"}, true},
                                         {false, {"</t>", "a", "<call>"}, true},
                                         {true, {"<call>", "a"}, false},
                                         {true, {"a", "</t>", "a", "<t>", "<call>"}, true}}) {
    TextConstraint text(constraints
                            .of({.kind = GrammarSource::Kind::choices, .choices = {"<call>a"}},
                                {.text = "<call>",
                                 .thought_begin = "<t>",
                                 .thought_end = "</t>",
                                 .begins_in_thought = row.begins_in_thought})
                            .value());
    std::string spelled;
    for (const std::string& piece : row.pieces) {
      EXPECT_FALSE(text.is_held()) << spelled;
      EXPECT_TRUE(text.accept(tokenizer.find(piece))) << spelled << " and " << piece;
      spelled += piece;
    }
    EXPECT_EQ(text.is_held(), row.is_held) << spelled;
  }
}

TEST_F(ConstraintTest, ATokenThatGoesOnWronglyBehindTheTriggerIsRefused) {
  TextConstraint text(choices({"<call>a", "<call>b"}, {.text = "<call>"}));
  EXPECT_TRUE(takes(text, "<") && takes(text, "call"));
  EXPECT_FALSE(takes(text, ">c"));
  EXPECT_FALSE(text.is_held());
  EXPECT_TRUE(takes(text, ">a"));
  EXPECT_TRUE(text.must_end());
}

TEST_F(ConstraintTest, ARefusedTokenLeavesTheThoughtThatItWouldHaveEnded) {
  const Tokenizer tokenizer = tokenizer_of({"a", "<t>", "</t>", "<call>", "</t><call>b", "</t><call>a"});
  Constraints constraints(tokenizer);
  TextConstraint text(
      constraints
          .of({.kind = GrammarSource::Kind::choices, .choices = {"<call>a"}},
              {.text = "<call>", .thought_begin = "<t>", .thought_end = "</t>", .begins_in_thought = true})
          .value());
  EXPECT_FALSE(text.accept(tokenizer.find("</t><call>b")));
  EXPECT_TRUE(text.accept(tokenizer.find("<call>")));
  EXPECT_FALSE(text.is_held());  // a word of the thought
  EXPECT_TRUE(text.accept(tokenizer.find("</t><call>a")));
  EXPECT_TRUE(text.must_end());
}

TEST_F(ConstraintTest, WhatTheVocabularyCannotSpellIsAnError) {
  TextConstraint text(choices({"ad"}));
  EXPECT_TRUE(allows(text, "a"));
  EXPECT_TRUE(takes(text, "a"));
  const auto mask = text.allowed();
  ASSERT_FALSE(mask.ok());
  EXPECT_NE(mask.error().text().find("no token that goes on"), std::string_view::npos) << mask.error().text();
}

class ForcedTokensTest : public testing::Test {
 protected:
  TextConstraint text_of(const std::string& grammar) {
    return TextConstraint(constraints_.of({.kind = GrammarSource::Kind::gbnf, .text = grammar}).value());
  }
  std::vector<std::string> forced(const std::string& grammar) {
    std::vector<std::string> pieces;
    for (const TokenId token : text_of(grammar).forced_tokens().tokens) pieces.emplace_back(tokenizer_.piece(token));
    return pieces;
  }
  using Pieces = std::vector<std::string>;

  // "c" begins no longer token; "b" does.
  Tokenizer tokenizer_ = Tokenizer::create(byte_level_vocabulary({{"a", "b"}, {"b", "d"}})).value();
  Constraints constraints_{tokenizer_};
};

TEST_F(ForcedTokensTest, AreTheTokenizersUpToWhereSomethingMayBeChosen) {
  EXPECT_EQ(forced(R"(root ::= "abcc" ("x" | "y"))"), (Pieces{"ab", "c", "c"}));
  EXPECT_EQ(forced(R"(root ::= "abc")"), (Pieces{"ab", "c"}));
  EXPECT_EQ(forced(R"(root ::= "x" | "y")"), Pieces{});
  EXPECT_EQ(forced(R"(root ::= "ab"? "c")"), Pieces{});
}

TEST_F(ForcedTokensTest, TheLastWaitsWhereItMightBeOneWithWhatFollows) {
  EXPECT_EQ(forced(R"(root ::= "ccb" ("d" | "x"))"), (Pieces{"c", "c"}));
  EXPECT_EQ(forced(R"(root ::= "ccb" ("e" | "x"))"), (Pieces{"c", "c", "b"}));
  EXPECT_EQ(forced(R"(root ::= "ccb")"), (Pieces{"c", "c", "b"}));
}

TEST_F(ForcedTokensTest, ACharacterIsForcedWholeOrNotAtAll) {
  EXPECT_EQ(forced(R"(root ::= "c" ("\u00e9" | "\u00e8"))"), Pieces{"c"});
}

TEST_F(ForcedTokensTest, AreNoneWhereTheTokenizerWritesAnotherBeginning) {
  const Tokenizer with_space = Tokenizer::create(sentence_piece_example()).value();
  ASSERT_NE(with_space.piece(with_space.encode("ab", {.adds_special_tokens = false}).value().front())[0], 'a');
  Constraints constraints(with_space);
  const auto constraint = constraints.of({.kind = GrammarSource::Kind::gbnf, .text = "root ::= \"ab\""}).value();
  EXPECT_TRUE(TextConstraint(constraint).forced_tokens().tokens.empty());
}

TEST_F(ForcedTokensTest, OfALongTextABeginningIsFoundAtOnce) {
  const std::string long_text(1000, 'c');
  TextConstraint text = text_of("root ::= \"" + long_text + "\"");
  std::size_t found = 0;
  for (bool is_all = false; !is_all;) {
    const TextConstraint::Forced some = text.forced_tokens();
    ASSERT_FALSE(some.tokens.empty());
    EXPECT_LE(some.tokens.size(), 256u);
    for (const TokenId token : some.tokens) EXPECT_TRUE(text.accept(token));
    found += some.tokens.size();
    is_all = some.is_all;
  }
  EXPECT_EQ(found, 1000u);
  EXPECT_TRUE(text.must_end());
}

TEST_F(ForcedTokensTest, WhatTakesTooLongToFindIsNotForced) {
  // Every byte is forced, and can be read in many ways.
  const auto ambiguous = compile_source({.kind = GrammarSource::Kind::gbnf, .text = R"(root ::= a{200} "d"
        a ::= "c" | "c" b
        b ::= "c" | "c" a)"});
  ASSERT_TRUE(ambiguous.ok()) << ambiguous.error().text();
  const std::string all = GrammarState(ambiguous.value()).forced_bytes(100, std::size_t{1} << 30);
  EXPECT_EQ(all, std::string(100, 'c'));
  EXPECT_LT(GrammarState(ambiguous.value()).forced_bytes(100, 200).size(), 100u);
}

TEST_F(ConstraintTest, EqualSourcesAreOneConstraint) {
  const auto first = choices({"a", "b"});
  EXPECT_EQ(choices({"a", "b"}), first);
  EXPECT_NE(choices({"ab"}), first);
  EXPECT_NE(choices({"a", "b"}, {.text = "a"}), first);
  EXPECT_NE(choices({"1:b"}), choices({"", "b"}));
  const auto schema = [&](std::uint32_t white_space) {
    return constraints_.of({.text = "true", .json = {.most_white_space = white_space}}).value();
  };
  EXPECT_EQ(schema(1), schema(1));
  EXPECT_NE(schema(1), schema(0));
  const auto closed =
      constraints_.of({.text = "true", .json = {.most_white_space = 1, .closes_objects = true}}).value();
  EXPECT_NE(closed, schema(1));
}

TEST_F(ConstraintTest, WhatWasUsedLongestAgoIsMadeAgain) {
  Constraints two(tokenizer_, 2);
  int compiled = 0;
  const auto make = [&](const std::string& text) {
    const GrammarSource source{.kind = GrammarSource::Kind::choices, .choices = {text}};
    return two.of(text, [&] {
      ++compiled;
      return compile_source(source);
    });
  };
  const auto first = make("a").value();
  ASSERT_TRUE(make("b").ok());
  EXPECT_EQ(make("a").value(), first);
  EXPECT_EQ(compiled, 2);
  ASSERT_TRUE(make("c").ok());  // in place of b
  EXPECT_EQ(two.count(), 2u);
  EXPECT_EQ(make("a").value(), first);
  EXPECT_EQ(compiled, 3);
  ASSERT_TRUE(make("b").ok());
  EXPECT_EQ(compiled, 4);
}

TEST_F(ConstraintTest, WhyOneDoesNotCompileIsKeptUnlessTimeWasShort) {
  int compiled = 0;
  const auto refused = [&](const std::string& key, ErrorCode code) {
    const auto made = constraints_.of(key, [&]() -> Result<std::shared_ptr<const Grammar>> {
      ++compiled;
      return Error::of(code, "no");
    });
    EXPECT_FALSE(made.ok());
    return made.ok() ? "" : std::string(made.error().text());
  };
  for (int i = 0; i < 3; ++i) EXPECT_EQ(refused("a", ErrorCode::invalid_argument), "no");
  EXPECT_EQ(compiled, 1);
  EXPECT_EQ(constraints_.count(), 1u);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(refused("b", ErrorCode::out_of_range), "no");
  EXPECT_EQ(compiled, 4);
  EXPECT_EQ(constraints_.count(), 1u);
}

TEST_F(ConstraintTest, WhatIsUsedHasRoomForSoMuch) {
  const std::size_t bytes = choices({"abcabcabc"})->grammar()->size_in_bytes();
  Constraints two(tokenizer_, 8, 2 * bytes);
  const auto make = [&](const std::string& text) {
    return two.of({.kind = GrammarSource::Kind::choices, .choices = {text}});
  };
  auto first = make("abcabcabc");
  ASSERT_TRUE(first.ok());
  ASSERT_TRUE(make("bcabcabca").ok());  // which nobody uses any more
  auto second = make("cabcabcab");
  ASSERT_TRUE(second.ok()) << second.error().text();
  EXPECT_EQ(two.count(), 1u);  // the others had to go
  const auto third = make("aaabbbccc");
  ASSERT_FALSE(third.ok());
  EXPECT_EQ(third.error().code(), ErrorCode::would_block) << third.error().text();
  first = Error::of(ErrorCode::not_found, "it has ended");
  EXPECT_TRUE(make("aaabbbccc").ok());
}

TEST_F(ConstraintTest, NothingIsHeldToTheEmptyTextAlone) {
  using Kind = GrammarSource::Kind;
  const GrammarSource sources[] = {{.kind = Kind::choices, .choices = {""}},
                                   {.kind = Kind::regular_expression, .text = ""},
                                   {.kind = Kind::regular_expression, .text = "()"},
                                   {.kind = Kind::gbnf, .text = "root ::= \"\""}};
  for (const GrammarSource& source : sources) {
    const auto made = constraints_.of(source);
    ASSERT_FALSE(made.ok()) << source.text;
    EXPECT_EQ(made.error().text(),
              "expected a text of at least one character to be allowed, found none but the empty one");
  }
  EXPECT_TRUE(constraints_.of({.kind = Kind::choices, .choices = {"", "a"}}).ok());
}

TEST_F(ConstraintTest, LongSourcesAreNotKept) {
  const auto made_of = [&](std::size_t length) {
    const GrammarSource source{.kind = GrammarSource::Kind::choices, .choices = {"a"}};
    return constraints_.of(std::string(length, 'k'), [&] { return compile_source(source); }).ok();
  };
  EXPECT_TRUE(made_of(Constraints::longest_key));
  EXPECT_EQ(constraints_.count(), 1u);
  EXPECT_TRUE(made_of(Constraints::longest_key + 1));
  EXPECT_EQ(constraints_.count(), 1u);
}

TEST_F(ConstraintTest, ManyThreadsMakeAndUseOne) {
  std::vector<std::thread> threads;
  std::atomic<int> ended = 0;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 50; ++round) {
        TextConstraint text(choices({"ab", "ac", "cab"}));
        if (allows(text, "c") && !allows(text, "b") && takes(text, "c") && takes(text, "ab") && text.must_end())
          ++ended;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(ended, 200);
  EXPECT_EQ(constraints_.count(), 1u);
}

}  // namespace
}  // namespace ingot::grammar
