#include "model/tokenizer/text_losses.h"

#include <gtest/gtest.h>

#include "model/tokenizer/byte_alphabet.h"

namespace ingot {
namespace {

// A token for each printable ASCII character, and none for the other bytes.
Tokenizer printable(bool drops_unknown) {
  TokenizerDescription description;
  description.is_byte_level = true;
  description.drops_unknown = drops_unknown;
  for (char character = ' '; character < 127; ++character) {
    description.tokens.push_back(spelled_bytes({&character, 1}));
    description.scores.push_back(0);
    description.types.push_back(TokenType::normal);
  }
  return Tokenizer::create(std::move(description)).value();
}

TEST(ReadableText, ShowsEachByteThatIsNoUtf8) {
  EXPECT_EQ(readable_text("a\xff\xc3(").text, "a\ufffd\ufffd(");
  EXPECT_EQ(readable_text("a\xff\xc3(").replaced, 2u);
  EXPECT_EQ(readable_text("na\u00efve").text, "na\u00efve");
  EXPECT_EQ(readable_text("na\u00efve").replaced, 0u);
}

TEST(CountLeftOut, CountsBytesThatNoTokenStandsFor) {
  const Tokenizer tokenizer = printable(true);
  EXPECT_EQ(count_left_out(tokenizer, "plain text", {}).value(), 0u);
  EXPECT_EQ(count_left_out(tokenizer, "na\u00efve\n", {}).value(), 3u);
  EXPECT_EQ(count_left_out(tokenizer, "", {}).value(), 0u);
}

TEST(CountLeftOut, AVocabularyThatRefusesSaysSoItself) {
  EXPECT_EQ(count_left_out(printable(false), "plain", {}).value(), 0u);
  EXPECT_FALSE(printable(false).encode("na\u00efve").ok());
}

}  // namespace
}  // namespace ingot
