// The automaton and its masks against the slow ways, over grammars that nobody thought of.
#include <gtest/gtest.h>

#include "model/grammar/gbnf.h"
#include "model/grammar/random_grammars.h"
#include "model/grammar/test_grammars.h"
#include "model/grammar/token_masks.h"

namespace ingot::grammar {
namespace {

constexpr std::uint32_t grammar_count = 300;

TEST(RandomGrammars, TextsAreTakenIffTheGrammarSaysSo) {
  std::size_t taken = 0, refused = 0, compiled = 0;
  for (std::uint32_t seed = 1; seed <= grammar_count; ++seed) {
    RandomGrammar random(seed);
    const auto grammar = compile_gbnf(random.gbnf());
    if (!grammar.ok()) continue;  // nothing satisfies it, or it calls itself before it reads
    ++compiled;
    for (std::uint32_t number = 0; number < 1 + 3 + 9 + 27 + 81 + 243; ++number) {
      std::string text;
      for (std::uint32_t rest = number; rest > 0; rest = (rest - 1) / 3)
        text += static_cast<char>('a' + (rest - 1) % 3);
      const bool is_taken = takes(grammar.value(), text);
      ASSERT_EQ(is_taken, random.takes(text)) << random.gbnf() << "'" << text << "'";
      ++(is_taken ? taken : refused);
    }
  }
  EXPECT_GT(compiled, grammar_count / 2);
  EXPECT_GT(taken, 1000u);
  EXPECT_GT(refused, 1000u);
}

TEST(RandomGrammars, MasksAreWhatEveryTokenTriedGives) {
  std::mt19937 random(7);
  std::vector<std::string> pieces{"", "</s>"};
  for (int count = 0; count < 150; ++count) {
    std::string piece;
    for (std::uint32_t length = 1 + random() % 7; length > 0; --length) piece += static_cast<char>('a' + random() % 3);
    pieces.push_back(piece);  // some twice
  }
  pieces.push_back(std::string(40, 'a'));
  const std::vector<TokenId> ends{1};
  std::vector<std::string_view> views = views_of(pieces);
  views[1] = "";
  const auto trie = TokenTrie::create(views, ends);
  ASSERT_TRUE(trie.ok());
  std::size_t steps = 0, overflown = 0;
  TokenMasks::Counts all;
  for (std::uint32_t seed = 1; seed <= grammar_count; ++seed) {
    RandomGrammar drawn(seed);
    const auto grammar = compile_gbnf(drawn.gbnf());
    if (!grammar.ok()) continue;
    TokenMasks masks(grammar.value(), trie.value());
    for (int walk = 0; walk < 4; ++walk) {
      GrammarState state(grammar.value());
      std::string text;
      for (int step = 0; step < 12; ++step, ++steps) {
        const auto mask = masks.mask(state).value();
        const TokenMask expected = slow_mask(state, views, ends);
        if (state.stacks().has_overflown()) {
          ++overflown;
          break;
        }
        ASSERT_TRUE(*mask == expected) << drawn.gbnf() << "after '" << text << "'";
        std::vector<TokenId> allowed;
        for (TokenId id = 2; id < static_cast<TokenId>(pieces.size()); ++id) {
          if (mask->allows(id)) allowed.push_back(id);
        }
        if (allowed.empty()) break;
        const std::string& piece = pieces[static_cast<std::size_t>(allowed[random() % allowed.size()])];
        ASSERT_TRUE(state.accept(piece));
        text += piece;
      }
    }
    all.asked += masks.counts().asked;
    all.found += masks.counts().found;
    all.inner += masks.counts().inner;
  }
  EXPECT_GT(steps, 2000u);
  EXPECT_LT(overflown, steps / 20);
  EXPECT_GT(all.found, 0u);
  EXPECT_GT(all.inner, 0u);
}

}  // namespace
}  // namespace ingot::grammar
