#include "engine/text_beginnings.h"

#include <gtest/gtest.h>

namespace ingot {
namespace {

using Tokens = std::vector<std::int32_t>;

TextBeginnings beginnings(std::uint64_t salt, const Tokens& tokens, std::uint64_t secret = 5) {
  return {secret, salt, tokens, 2};
}

TEST(TextBeginnings, TextsShareTheirFullPagesUpToWhereTheyDiffer) {
  const TextBeginnings text = beginnings(0, {1, 2, 3, 4, 5, 6, 7});
  EXPECT_EQ(text.pages(), 3);
  EXPECT_EQ(text.shared_pages(text), 3);
  EXPECT_EQ(text.shared_pages(beginnings(0, {1, 2, 3, 4, 5, 9})), 2);
  EXPECT_EQ(text.shared_pages(beginnings(0, {1, 2, 3})), 1);
  EXPECT_EQ(text.shared_pages(beginnings(0, {2, 1, 3, 4, 5, 6})), 0);
  EXPECT_EQ(text.shared_pages({}), 0);
}

TEST(TextBeginnings, APageIsSharedWhereAllBeforeItIs) {
  const TextBeginnings text = beginnings(0, {1, 2, 3, 4}), other = beginnings(0, {1, 9, 3, 4, 5, 6});
  EXPECT_TRUE(text.shares_page(text, 1));
  EXPECT_FALSE(text.shares_page(text, 2)) << "there is none";
  EXPECT_FALSE(text.shares_page(other, 0));
  EXPECT_FALSE(text.shares_page(other, 1));
  EXPECT_EQ(text.name(1), beginnings(0, {1, 2, 3, 4, 5, 6}).name(1));
  EXPECT_NE(text.name(1), other.name(1));
  EXPECT_EQ(text.name(2), 0u);
}

// What differs in the salt cannot be made up for by the first token.
TEST(TextBeginnings, TextsOfDifferentSaltsShareNothingWhateverTheirTokens) {
  const TextBeginnings first = beginnings(1, {40, 2, 3, 4}), second = beginnings(2, {40 ^ 3, 2, 3, 4});
  EXPECT_EQ(first.shared_pages(second), 0);
  EXPECT_FALSE(first.shares_page(second, 0));
  EXPECT_NE(first.name(0), second.name(0));
  EXPECT_EQ(first.shared_pages(beginnings(2, {40, 2, 3, 4})), 0);
}

TEST(TextBeginnings, WithAnotherSecretTheSameTextHasAnotherName) {
  EXPECT_NE(beginnings(0, {1, 2}).name(0), beginnings(0, {1, 2}, 6).name(0));
}

}  // namespace
}  // namespace ingot
