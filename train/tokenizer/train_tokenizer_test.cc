#include "train/tokenizer/train_tokenizer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/random.h"
#include "model/files/test_files.h"
#include "model/tokenizer/tokenizer_file.h"
#include "train/data/encode_text.h"
#include "train/data/tokenizer_hash.h"
#include "train/tokenizer/tokenizer_json.h"
#include "train/tokenizer/word_counts.h"

namespace ingot {
namespace {

constexpr std::string_view tale =
    "Once upon a time there was a little fox. The little fox lived by the old mill.\n"
    "It's 42 o'clock, said the fox; we've 1234567 apples!\n\n<|end|>\n"
    "Once upon a time there was a na\u00efve bear. The bear's caf\u00e9 was \u4f60\u597d.<|end|>";

TrainedTokenizer trained(std::string_view text, const TokenizerTraining& training) {
  Result<TrainedTokenizer> result = train_tokenizer(std::span(&text, 1), training);
  EXPECT_TRUE(result.ok()) << result.error().text();
  return std::move(result).value();
}

Tokenizer tokenizer_of(TokenizerDescription description) {
  Result<Tokenizer> tokenizer = Tokenizer::create(std::move(description));
  EXPECT_TRUE(tokenizer.ok()) << tokenizer.error().text();
  return std::move(tokenizer).value();
}

TEST(WordCounterTest, CountsPreTokensAndLeavesSpecialTokensOut) {
  const std::string_view pattern = R"(\w+|\W)";
  const std::vector<std::string> special = {"<|end|>", "<sep>"};
  Result<WordCounter> counter = WordCounter::create(std::span(&pattern, 1), special);
  ASSERT_TRUE(counter.ok()) << counter.error().text();
  ASSERT_TRUE(counter.value().add("one two<|end|>one<sep>one").ok());
  ASSERT_TRUE(counter.value().add("two<|end|>").ok());
  std::map<std::string_view, std::uint64_t> counts;
  for (const WordCount& word : counter.value().words()) counts[word.text] = word.count;
  EXPECT_EQ(counts, (std::map<std::string_view, std::uint64_t>{{"one", 3}, {" ", 1}, {"two", 2}}));
  EXPECT_EQ(counter.value().special_count(), 4u);
}

TEST(TrainTokenizerTest, BytesThenMergesThenSpecialTokens) {
  const TrainedTokenizer result = trained(tale, {.vocabulary = 300, .special_tokens = {"<|end|>", "<pad>"}});
  const TokenizerDescription& description = result.description;
  ASSERT_EQ(description.tokens.size(), 300u);
  EXPECT_EQ(description.tokens['a'], "a");
  EXPECT_EQ(description.tokens[' '], "\u0120");
  EXPECT_EQ(description.tokens[298], "<|end|>");
  EXPECT_EQ(description.tokens[299], "<pad>");
  EXPECT_EQ(description.eos, 298);
  EXPECT_GE(description.merges.size(), 42u);
  EXPECT_TRUE(description.ignores_merges);  // as GGUF's llama3 has it
  const Tokenizer tokenizer = tokenizer_of(description);
  EXPECT_TRUE(tokenizer.is_end_of_generation(298));
  EXPECT_FALSE(tokenizer.is_end_of_generation(299));
}

TEST(TrainTokenizerTest, TheReportIsWhatEncodingGives) {
  for (const std::string_view pattern : {"llama3", "gpt-2", "qwen2", "starcoder", "deepseek-v3", "gpt-4o", "falcon"}) {
    const TrainedTokenizer result = trained(tale, {.vocabulary = 350, .pattern = std::string(pattern)});
    EXPECT_EQ(result.bytes, tale.size());
    EXPECT_EQ(result.characters, tale.size() - 1 - 1 - 2 - 2);
    const Tokenizer tokenizer = tokenizer_of(result.description);
    std::uint64_t tokens = 0;
    ASSERT_TRUE(
        encode_text(tale, tokenizer, document_separator(tokenizer), [&](std::span<const TokenId> ids) -> Result<void> {
          tokens += ids.size();
          return {};
        }).ok());
    EXPECT_EQ(result.tokens, tokens) << pattern;
    EXPECT_LT(result.tokens * 2, result.characters) << pattern;
  }
}

TEST(TrainTokenizerTest, AnyBytesComeBack) {
  const Tokenizer tokenizer = tokenizer_of(trained(tale, {.vocabulary = 400}).description);
  RandomNumbers numbers(5);
  for (int round = 0; round < 200; ++round) {
    std::string bytes(numbers.below(60), ' ');
    for (char& byte : bytes) byte = static_cast<char>(numbers.below(256));
    bytes += tale.substr(numbers.below(tale.size()), numbers.below(50));
    EXPECT_EQ(tokenizer.decode(tokenizer.encode(bytes).value()), bytes);
  }
}

TEST(TrainTokenizerTest, BytesThatAreNoTextCanBeLearntFrom) {
  std::string bytes;
  RandomNumbers numbers(6);
  for (int count = 0; count < 5000; ++count) bytes += static_cast<char>(numbers.below(256));
  const Tokenizer tokenizer = tokenizer_of(trained(bytes, {.vocabulary = 500}).description);
  EXPECT_EQ(tokenizer.decode(tokenizer.encode(bytes).value()), bytes);
}

TEST(TrainTokenizerTest, ManyTextsAreOne) {
  const std::string_view parts[] = {tale.substr(0, tale.find("<|end|>")), tale.substr(tale.find("<|end|>") + 7)};
  std::vector<std::uint64_t> done;
  Result<TrainedTokenizer> result =
      train_tokenizer(parts, {.vocabulary = 300}, [&](TrainingPhase phase, std::uint64_t now, std::uint64_t total) {
        EXPECT_LE(now, total);
        if (phase == TrainingPhase::counting) done.push_back(now);
      });
  ASSERT_TRUE(result.ok()) << result.error().text();
  EXPECT_EQ(tokenizer_hash(result.value().description), tokenizer_hash(trained(tale, {.vocabulary = 300}).description));
  EXPECT_TRUE(std::is_sorted(done.begin(), done.end()));
  EXPECT_EQ(done.back(), parts[0].size() + parts[1].size());
}

TEST(TrainTokenizerTest, ASmallTextGivesFewerTokens) {
  const TrainedTokenizer result = trained("ab ab", {.vocabulary = 1000});
  EXPECT_EQ(result.description.tokens.size(), 256u + 2 + 1);  // "ab", " ab", "<|end|>"
  EXPECT_EQ(result.tokens, 3u);
}

// "\u0120the" is how the vocabulary spells " the".
TEST(TrainTokenizerTest, NoTokenIsSpelledLikeASpecialOne) {
  std::string text;
  for (int count = 0; count < 50; ++count) text += "a the ";
  const TrainedTokenizer result = trained(text, {.vocabulary = 300, .special_tokens = {"\u0120the"}});
  const std::vector<std::string>& tokens = result.description.tokens;
  EXPECT_EQ(std::count(tokens.begin(), tokens.end(), "\u0120the"), 1);
}

TEST(TrainTokenizerTest, MistakesAreNamed) {
  const auto error_of = [](std::string_view text, const TokenizerTraining& training) {
    const Result<TrainedTokenizer> result = train_tokenizer(std::span(&text, 1), training);
    return std::string(result.ok() ? "" : result.error().text());
  };
  EXPECT_EQ(error_of("", {.vocabulary = 300}), "text: expected words to learn from, found none in 0 bytes");
  EXPECT_EQ(error_of("<|end|><|end|>", {.vocabulary = 300}),
            "text: expected words to learn from, found none in 14 bytes");
  EXPECT_EQ(error_of("text", {.vocabulary = 256}),
            "vocabulary: expected 257 (256 bytes and 1 special tokens) to 16777216 tokens, found 256");
  EXPECT_EQ(error_of("text", {.vocabulary = 257}), "");
  EXPECT_EQ(error_of("text", {.vocabulary = 256, .special_tokens = {}}), "");
  EXPECT_NE(error_of("text", {.vocabulary = -1}), "");
  EXPECT_NE(error_of("text", {.vocabulary = std::int64_t{1} << 40}), "");
  EXPECT_NE(error_of("text", {.vocabulary = 300, .special_tokens = {""}}).find("expected a text"), std::string::npos);
  EXPECT_NE(error_of("text", {.vocabulary = 300, .special_tokens = {"a"}}).find("256 bytes"), std::string::npos);
  EXPECT_NE(error_of("text", {.vocabulary = 300, .special_tokens = {"\xff"}}).find("UTF-8"), std::string::npos);
  EXPECT_NE(error_of("text", {.vocabulary = 300, .special_tokens = {"<a>", "<a>"}}).find("special token 2"),
            std::string::npos);
  EXPECT_NE(error_of("text", {.vocabulary = 300, .special_tokens = {std::string(300, 'x')}}), "");
  EXPECT_NE(error_of("text", {.vocabulary = 300, .pattern = "nonsense"}).find("found 'nonsense'"), std::string::npos);
  EXPECT_NE(error_of("text", {.vocabulary = 300, .pattern = "gemma4"}).find("found 'gemma4'"), std::string::npos);
}

TEST(TokenizerJsonTest, ReadsBackAsTheSameTokenizer) {
  const TemporaryFolder folder;
  for (const std::string_view pattern : {"llama3", "gpt-2", "deepseek-llm", "kimi-k2"}) {
    const TrainedTokenizer result =
        trained(tale, {.vocabulary = 320, .special_tokens = {"<|end|>", "<\"\\\n>"}, .pattern = std::string(pattern)});
    ASSERT_TRUE(write_tokenizer_json(folder.file("tokenizer.json"), result.description).ok());
    const Result<Tokenizer> read = open_tokenizer_json(folder.file("tokenizer.json"));
    ASSERT_TRUE(read.ok()) << read.error().text();
    const Tokenizer written = tokenizer_of(result.description);
    EXPECT_EQ(tokenizer_hash(read.value().description()), tokenizer_hash(written.description()));
    EXPECT_EQ(read.value().description().types, written.description().types);
    EXPECT_EQ(read.value().eos(), written.eos());
    EXPECT_EQ(read.value().bos(), written.bos());
    EXPECT_EQ(read.value().description().end_of_generation, written.description().end_of_generation);
    const EncodeOptions options{.parses_special_tokens = true};
    EXPECT_EQ(read.value().encode(tale, options).value(), written.encode(tale, options).value());
  }
}

TEST(TokenizerJsonTest, AConfigurationBesideItDecides) {
  const TemporaryFolder folder;
  const TrainedTokenizer result = trained(tale, {.vocabulary = 320, .special_tokens = {"<|end|>", "<stop>"}});
  ASSERT_TRUE(write_tokenizer_json(folder.file("tokenizer.json"), result.description).ok());
  folder.write("tokenizer_config.json", R"({"eos_token": "<stop>"})");
  const Result<Tokenizer> read = open_tokenizer_json(folder.file("tokenizer.json"));
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(read.value().eos(), 319);
  EXPECT_EQ(read.value().bos(), no_token);
}

TEST(TokenizerJsonTest, WhatItCannotSayIsRefused) {
  TokenizerDescription description = trained(tale, {.vocabulary = 320}).description;
  const auto refuses = [&](auto change) {
    TokenizerDescription changed = description;
    change(changed);
    return !tokenizer_json(changed).ok();
  };
  EXPECT_TRUE(tokenizer_json(description).ok());
  EXPECT_TRUE(refuses([](TokenizerDescription& from) { from.model = TokenizerModel::unigram; }));
  EXPECT_TRUE(refuses([](TokenizerDescription& from) { from.is_byte_level = false; }));
  EXPECT_TRUE(refuses([](TokenizerDescription& from) { from.prefix = {1}; }));
  EXPECT_TRUE(refuses([](TokenizerDescription& from) { from.pre_tokenizer[0].is_inverted = true; }));
  EXPECT_TRUE(refuses(
      [](TokenizerDescription& from) { from.normalizer.push_back({.kind = NormalizerStep::Kind::lowercase}); }));
  const TemporaryFolder folder;
  folder.write("broken.json", R"({"model": {"type": "BPE", )");
  EXPECT_FALSE(open_tokenizer_json(folder.file("broken.json")).ok());
  EXPECT_FALSE(open_tokenizer_json(folder.file("none.json")).ok());
}

}  // namespace
}  // namespace ingot
