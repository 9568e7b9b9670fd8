#include "model/tokenizer/detokenizer.h"

#include <gtest/gtest.h>

#include "base/utf8.h"
#include "model/tokenizer/test_vocabularies.h"

namespace ingot {
namespace {

Tokenizer create(TokenizerDescription description) {
  return std::move(Tokenizer::create(std::move(description))).value();
}

TEST(Detokenizer, NeverGivesOutHalfACharacter) {
  const Tokenizer tokenizer = create(byte_level_example());
  const std::vector<TokenId> ids = tokenizer.encode("hello 我🚀").value();
  Detokenizer detokenizer(tokenizer);
  std::string all;
  for (TokenId id : ids) {
    const std::string part = detokenizer.push(id);
    for (std::size_t position = 0; position < part.size(); position += decode_utf8(part, position).size) {
      ASSERT_TRUE(decode_utf8(part, position).is_valid);
    }
    all += part;
  }
  EXPECT_EQ(all, "hello 我🚀");
  EXPECT_EQ(detokenizer.finish(), "");
}

TEST(Detokenizer, WhatCannotBecomeACharacterIsReplaced) {
  const Tokenizer tokenizer = create(byte_level_example());
  Detokenizer detokenizer(tokenizer);
  EXPECT_EQ(detokenizer.push(0xe6), "");
  EXPECT_EQ(detokenizer.push(0x88), "");
  EXPECT_EQ(detokenizer.push('x'), "\xef\xbf\xbd\xef\xbf\xbdx");
  EXPECT_EQ(detokenizer.push(0xff), "\xef\xbf\xbd");
  EXPECT_EQ(detokenizer.push(0xf0), "");
  EXPECT_EQ(detokenizer.finish(), "\xef\xbf\xbd");
  EXPECT_EQ(detokenizer.push(-1) + detokenizer.push(1 << 30), "") << "ids that are none";
}

TEST(Detokenizer, ByteTokensAndTheLeadingSpace) {
  const Tokenizer tokenizer = create(sentence_piece_example());
  const std::vector<TokenId> ids = tokenizer.encode("the é the").value();
  Detokenizer begin(tokenizer);
  Detokenizer middle(tokenizer, {.is_text_begin = false});
  std::string from_begin, from_middle;
  for (TokenId id : ids) {
    from_begin += begin.push(id);
    from_middle += middle.push(id);
  }
  EXPECT_EQ(from_begin, "the é the");
  EXPECT_EQ(from_middle, " the é the");
}

TEST(Detokenizer, SpecialTokensAreLeftOutUnlessAskedFor) {
  TokenizerDescription description = byte_level_example();
  const TokenId end = add_special(description, "<|im_end|>");
  complete_special_tokens(description);
  const Tokenizer tokenizer = create(std::move(description));
  EXPECT_TRUE(tokenizer.is_special(end));
  EXPECT_TRUE(tokenizer.is_end_of_generation(end));
  EXPECT_FALSE(tokenizer.is_end_of_generation('a'));
  EXPECT_EQ(tokenizer.piece(end), "<|im_end|>");
  EXPECT_EQ(tokenizer.find("<|im_end|>"), end);
  const std::vector<TokenId> ids{'a', end, 'b'};
  EXPECT_EQ(tokenizer.decode(ids), "ab");
  EXPECT_EQ(tokenizer.decode(ids, {.keeps_special_tokens = true}), "a<|im_end|>b");
  Detokenizer without(tokenizer);
  Detokenizer with(tokenizer, {.keeps_special_tokens = true});
  EXPECT_EQ(without.push(end), "");
  EXPECT_EQ(with.push(end), "<|im_end|>");
}

}  // namespace
}  // namespace ingot
