#include "convert/tokenizer_keys.h"

#include <gtest/gtest.h>

#include "model/tokenizer/test_vocabularies.h"

namespace ingot {
namespace {

constexpr std::string_view texts[] = {"", "hello world", "the ab  abc", "Playing, unplayed cafés.", "we're 42\n\té我"};

// Written as keys and read back, a tokenizer makes the same tokens.
void expect_written(TokenizerDescription description) {
  Result<Tokenizer> tokenizer = Tokenizer::create(std::move(description));
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.error().text();
  Metadata metadata;
  metadata.set_text("general.architecture", "llama");
  std::vector<std::string> notes;
  const std::int64_t vocabulary = tokenizer.value().vocabulary_size() + 3;
  add_tokenizer_keys(tokenizer.value(), vocabulary, metadata, notes);
  EXPECT_TRUE(notes.empty()) << notes[0];
  Result<TokenizerDescription> read = describe_gguf_tokenizer(metadata);
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(static_cast<std::int64_t>(read.value().tokens.size()), vocabulary);
  Result<Tokenizer> again = Tokenizer::create(std::move(read).value());
  ASSERT_TRUE(again.ok()) << again.error().text();
  for (const std::string_view text : texts) {
    EXPECT_EQ(tokenizer.value().encode(text).value(), again.value().encode(text).value()) << text;
  }
}

TEST(TokenizerKeysTest, EveryKindReadsBackTheSame) {
  expect_written(byte_level_example());
  expect_written(sentence_piece_example());
  expect_written(unigram_example());
  expect_written(word_piece_example());
}

TEST(TokenizerKeysTest, BeginningAndEndAreKept) {
  TokenizerDescription description = byte_level_example();
  description.bos = add_special(description, "<|begin|>");
  description.eos = add_special(description, "<|end|>");
  description.prefix = {description.bos};
  description.suffix = {description.eos};
  expect_written(std::move(description));
}

// What SentencePiece keeps as scores, tokenizer.json keeps as merges.
TEST(TokenizerKeysTest, MergesOfCharactersBecomeScores) {
  TokenizerDescription description = sentence_piece_example();
  description.model = TokenizerModel::byte_pair;
  description.scores.assign(description.tokens.size(), 0);
  description.merges = {{"c", "a"}, {"▁", "t"}, {"h", "e"}, {"▁t", "he"}, {"▁", "a"}, {"a", "b"}, {"b", "c"}};
  description.fuses_unknown = true;
  expect_written(std::move(description));
}

// Scores join whatever two pieces make a token, so a token that no merge makes
// cannot be kept apart.
TEST(TokenizerKeysTest, ATokenWithoutAMergeIsNoted) {
  TokenizerDescription description = sentence_piece_example();
  description.model = TokenizerModel::byte_pair;
  description.merges = {{"h", "e"}};
  description.fuses_unknown = true;
  const Result<Tokenizer> tokenizer = Tokenizer::create(std::move(description));
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.error().text();
  Metadata metadata;
  metadata.set_text("general.architecture", "llama");
  std::vector<std::string> notes;
  add_tokenizer_keys(tokenizer.value(), tokenizer.value().vocabulary_size(), metadata, notes);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].find("some texts become other tokens"), std::string::npos) << notes[0];
}

TEST(TokenizerKeysTest, WhatGgufCannotSayIsLeftOutWithANote) {
  TokenizerDescription description = byte_level_example();
  description.pre_tokenizer[0].pattern = "[a-z]+|[^a-z]+";
  const Result<Tokenizer> tokenizer = Tokenizer::create(std::move(description));
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.error().text();
  Metadata metadata;
  std::vector<std::string> notes;
  add_tokenizer_keys(tokenizer.value(), 300, metadata, notes);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].find("no tokenizer is written"), std::string::npos) << notes[0];
  EXPECT_TRUE(metadata.entries().empty());
}

}  // namespace
}  // namespace ingot
