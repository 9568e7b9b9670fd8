#include "engine/prefix_index.h"

#include <gtest/gtest.h>

#include <map>
#include <utility>

#include "base/random.h"

namespace ingot {
namespace {

using Tokens = std::vector<std::int32_t>;
using Pages = std::vector<std::int32_t>;

TEST(PrefixIndex, FindsTheLongestBeginningThatIsKnown) {
  PrefixIndex index(2, 1);
  EXPECT_EQ(index.add(0, std::nullopt, Tokens{1, 2}, 5), 5);
  EXPECT_EQ(index.add(0, 5, Tokens{3, 4}, 7), 7);
  EXPECT_EQ(index.find(0, Tokens{1, 2, 3, 4, 5, 6}), (Pages{5, 7}));
  EXPECT_EQ(index.find(0, Tokens{1, 2, 3}), (Pages{5}));
  EXPECT_EQ(index.find(0, Tokens{1, 2, 9, 9}), (Pages{5}));
  EXPECT_EQ(index.find(0, Tokens{3, 4}), (Pages{}));
  EXPECT_EQ(index.find(0, Tokens{1}), (Pages{}));
}

TEST(PrefixIndex, TextsOfDifferentSaltsShareNothing) {
  PrefixIndex index(2, 1);
  index.add(7, std::nullopt, Tokens{1, 2}, 0);
  EXPECT_EQ(index.find(8, Tokens{1, 2}), (Pages{}));
  EXPECT_EQ(index.add(8, std::nullopt, Tokens{1, 2}, 1), 1);
}

TEST(PrefixIndex, TheSameTextIsKnownByItsFirstPage) {
  PrefixIndex index(2, 1);
  index.add(0, std::nullopt, Tokens{1, 2}, 3);
  EXPECT_EQ(index.add(0, std::nullopt, Tokens{1, 2}, 4), 3);
  EXPECT_FALSE(index.knows(4));
}

TEST(PrefixIndex, GivesUpWhatWasLetGoLongestAgo) {
  PrefixIndex index(1, 1);
  index.add(0, std::nullopt, Tokens{1}, 0);
  index.add(0, 0, Tokens{2}, 1);
  index.add(0, std::nullopt, Tokens{3}, 2);
  index.let_go(2);
  index.let_go(1);  // a text from its end
  index.let_go(0);
  EXPECT_EQ(index.unused_count(), 3);
  index.take_up(2);
  index.let_go(2);
  EXPECT_EQ(index.give_up(), 1);
  EXPECT_EQ(index.find(0, Tokens{1, 2}), (Pages{0}));
  EXPECT_EQ(index.give_up(), 0);
  EXPECT_EQ(index.give_up(), 2);
  EXPECT_EQ(index.give_up(), std::nullopt);
  EXPECT_EQ(index.find(0, Tokens{3}), (Pages{}));
}

TEST(PrefixIndex, CountsWhatChangesWhatIsFoundAndWhoUsesIt) {
  PrefixIndex index(1, 1);
  std::uint64_t before = index.changes();
  const auto has_changed = [&] { return std::exchange(before, index.changes()) != index.changes(); };
  index.add(0, std::nullopt, Tokens{1}, 0);
  EXPECT_TRUE(has_changed());
  index.add(0, std::nullopt, Tokens{1}, 1);  // it was known
  index.find(0, Tokens{1, 2});
  EXPECT_FALSE(has_changed());
  index.let_go(0);
  EXPECT_TRUE(has_changed());
  index.take_up(0);
  EXPECT_TRUE(has_changed());
  index.let_go(0);
  has_changed();
  index.give_up();
  EXPECT_TRUE(has_changed());
}

TEST(PrefixIndex, NoTextHasTheNumberOfAnother) {
  PrefixIndex index(1, 1);
  index.add(0, std::nullopt, Tokens{1}, 0);
  index.add(0, 0, Tokens{1}, 1);
  const std::uint64_t first = index.number(0), second = index.number(1);
  EXPECT_NE(first, second);
  index.let_go(1);
  EXPECT_EQ(index.give_up(), 1);
  index.add(0, 0, Tokens{2}, 1);  // the page holds another text now
  EXPECT_NE(index.number(1), first);
  EXPECT_NE(index.number(1), second);
  EXPECT_EQ(index.number(0), first);
}

TEST(PrefixIndex, WhatIsUsedIsNotGivenUp) {
  PrefixIndex index(1, 1);
  index.add(0, std::nullopt, Tokens{1}, 0);
  EXPECT_EQ(index.give_up(), std::nullopt);
  index.let_go(0);
  index.take_up(0);
  EXPECT_EQ(index.give_up(), std::nullopt);
}

// Against a map from whole texts to pages, with a vocabulary so small that texts meet all the time.
TEST(PrefixIndex, FindsWhatAMapOfWholeTextsFinds) {
  RandomNumbers random(3);
  PrefixIndex index(2, 9);
  std::map<Tokens, std::int32_t> pages;
  std::int32_t next_page = 0;
  for (int round = 0; round < 2000; ++round) {
    Tokens text;
    for (std::uint64_t length = 2 * (1 + random.below(4)); length > 0; --length) {
      text.push_back(static_cast<std::int32_t>(random.below(2)));
    }
    std::vector<std::int32_t> expected;
    for (std::size_t length = 2; length <= text.size(); length += 2) {
      const auto found = pages.find(Tokens(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(length)));
      if (found == pages.end()) break;
      expected.push_back(found->second);
    }
    ASSERT_EQ(index.find(0, text), expected);
    if (2 * expected.size() == text.size()) continue;
    const auto before = expected.empty() ? std::nullopt : std::optional(expected.back());
    const std::span added(text.data() + 2 * expected.size(), 2);
    ASSERT_EQ(index.add(0, before, added, next_page), next_page);
    pages[Tokens(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(2 * expected.size()) + 2)] = next_page++;
  }
}

}  // namespace
}  // namespace ingot
