#include "engine/generation.h"

#include <gtest/gtest.h>

#include <numeric>

#include "engine/service_fixture.h"
#include "kernels/all_operations.h"
#include "machine/machine.h"
#include "model/tokenizer/test_vocabularies.h"

namespace ingot {
namespace {

// No model: tokens come as the test says.
class GenerationTest : public testing::Test {
 protected:
  static Tokenizer tokenizer_of(TokenizerDescription description) {
    return std::move(Tokenizer::create(std::move(description))).value();
  }
  static constexpr std::int64_t vocabulary = 256;

  Generation begin(TextRequest request, const Tokenizer& tokenizer) {
    auto prepared = PreparedRequest::create(std::move(request), tokenizer, tokenizer.vocabulary_size());
    EXPECT_TRUE(prepared.ok()) << prepared.error().text();
    return Generation::create(std::move(prepared).value(), 0, heard_, table_, tokenizer).value();
  }
  std::optional<ErrorCode> refusal(TextRequest request) {
    const Tokenizer tokenizer = tokenizer_of(byte_level_vocabulary({}));
    const auto prepared = PreparedRequest::create(std::move(request), tokenizer, vocabulary);
    return prepared.ok() ? std::optional<ErrorCode>() : prepared.error().code();
  }
  static std::vector<std::int32_t> all_tokens() {
    std::vector<std::int32_t> tokens(vocabulary);
    std::iota(tokens.begin(), tokens.end(), 0);
    return tokens;
  }

  KernelTable table_ = KernelTable::select(all_operations(), Machine::detect().features).value();
  HeardListener heard_ = std::make_shared<Heard>();
};

TEST_F(GenerationTest, SaysWhereTokensBeginInTheTextThatIsGiven) {
  TokenizerDescription description = sentence_piece_example();
  const TokenId begin_of_text = add_special(description, "<s>");
  const Tokenizer tokenizer = tokenizer_of(std::move(description));
  // The space in front of a text is left out. A lone byte is shown as a character of its own, and one that might
  // become a character of more bytes counts when it is clear that it does not.
  Generation generation = begin({.prompt = {begin_of_text}, .most_tokens = 9, .most_likely = 0}, tokenizer);
  for (const std::string_view piece : {"▁the", "▁a", "<0xA9>", "<0xC3>", "ab"}) {
    EXPECT_EQ(generation.take(tokenizer.find(piece)), GenerationEnd::none) << piece;
  }
  EXPECT_EQ(heard_->offsets, (std::vector<std::size_t>{0, 3, 5, 6, 6}));
  generation.end(GenerationEnd::cancelled);
  EXPECT_EQ(heard_->text,
            "the a\xEF\xBF\xBD\xEF\xBF\xBD"
            "ab");
}

TEST_F(GenerationTest, SaysWhereTokensBeginWhileTheirTextWaits) {
  const Tokenizer tokenizer = tokenizer_of(byte_level_vocabulary({}));
  Generation generation =
      begin({.prompt = {'x'}, .most_tokens = 9, .stops = {"abcd"}, .stop_tokens = {'!'}, .most_likely = 0}, tokenizer);
  for (const char letter : {'a', 'b', 'c', 'e'}) generation.take(letter);
  EXPECT_EQ(heard_->offsets, (std::vector<std::size_t>{0, 1, 2, 3}));
  EXPECT_EQ(heard_->text, "abce");
  generation.take('a');
  EXPECT_EQ(generation.take('!'), GenerationEnd::stop);
  generation.end(GenerationEnd::stop);
  EXPECT_EQ(heard_->last_offset, 5u);
}

TEST_F(GenerationTest, StopsAtTokensInAnyOrderAndOftenerThanOnce) {
  TokenizerDescription description = byte_level_vocabulary({});
  description.end_of_generation = {200, 100};
  const Tokenizer tokenizer = tokenizer_of(std::move(description));
  Generation generation =
      begin({.prompt = {'x'}, .most_tokens = 9, .least_tokens = 1, .stop_tokens = {90, 7, 100, 90, 3}}, tokenizer);
  EXPECT_EQ(std::ssize(generation.constraints().forbidden), 2 + 4);
  for (const std::int32_t stop : {90, 7, 3}) EXPECT_EQ(generation.take(stop), GenerationEnd::stop) << stop;
  for (const std::int32_t end : {100, 200}) EXPECT_EQ(generation.take(end), GenerationEnd::model) << end;
  EXPECT_FALSE(generation.is_end(91));
  EXPECT_EQ(generation.take('a'), GenerationEnd::none);
  EXPECT_TRUE(generation.constraints().forbidden.empty());
}

TEST_F(GenerationTest, WhereEveryTokenIsForbiddenNothingIsBegun) {
  TextRequest asked = {.prompt = {'x'}, .most_tokens = 9, .least_tokens = 1, .stop_tokens = all_tokens()};
  EXPECT_EQ(refusal(asked), ErrorCode::invalid_argument);
  asked.least_tokens = 0;
  EXPECT_EQ(refusal(asked), std::nullopt);
  for (const std::int32_t token : all_tokens()) {
    asked.biases.push_back({token, -std::numeric_limits<float>::infinity()});
  }
  EXPECT_EQ(refusal(asked), ErrorCode::invalid_argument);
  asked.biases.back().added = -100;
  EXPECT_EQ(refusal(asked), std::nullopt);
}

TEST_F(GenerationTest, WantsNoMoreAtTheLeastThanAtTheMost) {
  EXPECT_EQ(refusal({.prompt = {'x'}, .most_tokens = 9, .least_tokens = 10}), ErrorCode::invalid_argument);
  EXPECT_EQ(refusal({.prompt = {'x'}, .most_tokens = 9, .least_tokens = 9}), std::nullopt);
}

}  // namespace
}  // namespace ingot
