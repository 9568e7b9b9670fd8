#include "train/tokenizer/learn_merges.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/random.h"

namespace ingot {
namespace {

// The same rule, counted anew for each merge.
LearnedMerges learn_slowly(std::span<const WordCount> words, std::size_t tokens) {
  LearnedMerges result;
  std::map<std::string, TokenId> ids;
  for (int byte = 0; byte < 256; ++byte) {
    result.tokens.push_back(std::string(1, static_cast<char>(byte)));
    ids[result.tokens.back()] = byte;
  }
  std::vector<std::vector<TokenId>> split;
  for (const WordCount& word : words) {
    std::vector<TokenId>& symbols = split.emplace_back();
    for (char byte : word.text) symbols.push_back(static_cast<std::uint8_t>(byte));
  }
  while (result.tokens.size() < tokens) {
    std::map<std::pair<TokenId, TokenId>, std::uint64_t> counts;
    for (std::size_t word = 0; word < words.size(); ++word) {
      for (std::size_t at = 1; at < split[word].size(); ++at) {
        counts[{split[word][at - 1], split[word][at]}] += words[word].count;
      }
    }
    if (counts.empty()) break;
    auto best = counts.begin();
    for (auto pair = counts.begin(); pair != counts.end(); ++pair) {
      if (pair->second > best->second) best = pair;
    }
    const auto [left, right] = best->first;
    const std::string text =
        result.tokens[static_cast<std::size_t>(left)] + result.tokens[static_cast<std::size_t>(right)];
    const auto [id, is_new] = ids.emplace(text, static_cast<TokenId>(result.tokens.size()));
    if (is_new) result.tokens.push_back(text);
    result.merges.push_back({left, right});
    for (std::vector<TokenId>& symbols : split) {
      std::vector<TokenId> merged;
      for (std::size_t at = 0; at < symbols.size(); ++at) {
        const bool is_pair = at + 1 < symbols.size() && symbols[at] == left && symbols[at + 1] == right;
        merged.push_back(is_pair ? id->second : symbols[at]);
        at += is_pair;
      }
      symbols = merged;
    }
  }
  for (std::size_t word = 0; word < words.size(); ++word) result.text_tokens += words[word].count * split[word].size();
  return result;
}

TEST(LearnMergesTest, LearnsWhatCountingAnewLearns) {
  RandomNumbers numbers(7);
  for (int round = 0; round < 300; ++round) {
    // Few letters and long runs, so that pairs overlap, tie, and spell the same text in several ways.
    const std::uint64_t letters = 1 + numbers.below(round % 3 == 0 ? 3 : 6);
    std::vector<std::string> texts(1 + numbers.below(12));
    std::vector<WordCount> words;
    for (std::string& text : texts) {
      for (std::uint64_t size = 1 + numbers.below(round % 2 == 0 ? 40 : 8); size > 0; --size) {
        text += static_cast<char>(numbers.below(20) == 0 ? 0xf0 : 'a' + numbers.below(letters));
      }
      words.push_back({text, 1 + numbers.below(round % 5 == 0 ? 1 : 9)});
    }
    const std::size_t tokens = 256 + numbers.below(60);
    const LearnedMerges expected = learn_slowly(words, tokens);
    const Result<LearnedMerges> learned = learn_merges(words, {.tokens = tokens});
    ASSERT_TRUE(learned.ok());
    ASSERT_EQ(learned.value().merges, expected.merges) << round;
    EXPECT_EQ(learned.value().tokens, expected.tokens);
    EXPECT_EQ(learned.value().text_tokens, expected.text_tokens);
  }
}

TEST(LearnMergesTest, TiesGoToTheLesserTokens) {
  const WordCount words[] = {{"dc", 2}, {"ba", 2}, {"bc", 2}, {"zz", 3}};
  const LearnedMerges learned = learn_merges(words, {.tokens = 260}).value();
  EXPECT_EQ(learned.merges, (std::vector<LearnedMerge>{{'z', 'z'}, {'b', 'a'}, {'b', 'c'}, {'d', 'c'}}));
  EXPECT_EQ(learned.text_tokens, 9u);
}

TEST(LearnMergesTest, OfOverlappingPairsTheLeftIsMerged) {
  const WordCount words[] = {{"aaaaa", 1}};
  const LearnedMerges learned = learn_merges(words, {.tokens = 300}).value();
  EXPECT_EQ(learned.tokens.size(), 259u);
  EXPECT_EQ(learned.merges, (std::vector<LearnedMerge>{{'a', 'a'}, {256, 'a'}, {256, 257}}));
  EXPECT_EQ(learned.text_tokens, 1u);
}

TEST(LearnMergesTest, NoTokenIsTooLongOrKeptOut) {
  const std::string run(1000, 'a');
  const WordCount words[] = {{run, 3}, {"bcd", 5}};
  const LearnedMerges learned = learn_merges(words, {.tokens = 2000, .longest_token = 8, .kept_out = {"bc"}}).value();
  for (const std::string& token : learned.tokens) {
    EXPECT_LE(token.size(), 8u);
    EXPECT_NE(token, "bc");
  }
  EXPECT_NE(std::find(learned.tokens.begin(), learned.tokens.end(), "bcd"), learned.tokens.end());
}

// Each merge visits its own places alone: a quarter of a megabyte in one word, and many merges.
TEST(LearnMergesTest, ALongWordTakesNoLongerThanManyShortOnes) {
  RandomNumbers numbers(3);
  std::string word(std::size_t{1} << 18, ' ');
  for (char& letter : word) letter = static_cast<char>('a' + numbers.below(4));
  const WordCount words[] = {{word, 1}};
  const LearnedMerges learned = learn_merges(words, {.tokens = 20000}).value();
  EXPECT_EQ(learned.tokens.size(), 20000u);
}

TEST(LearnMergesTest, WordsMustOccur) {
  const WordCount empty[] = {{"", 1}}, never[] = {{"a", 0}};
  EXPECT_FALSE(learn_merges(empty, {.tokens = 300}).ok());
  EXPECT_FALSE(learn_merges(never, {.tokens = 300}).ok());
  EXPECT_EQ(learn_merges({}, {.tokens = 300}).value().tokens.size(), 256u);
}

}  // namespace
}  // namespace ingot
