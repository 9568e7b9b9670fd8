#include "engine/stop_text.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace ingot {
namespace {

// All that is shown of a text that comes in these pieces.
std::string shown(const std::vector<std::string>& stops, const std::vector<std::string>& pieces) {
  StopText text(stops);
  std::string all;
  for (const std::string& piece : pieces) all += text.push(piece);
  return all + text.finish();
}

TEST(StopText, WithoutStopsEverythingIsShownAtOnce) {
  StopText text({""});
  EXPECT_EQ(text.push("abc"), "abc");
  EXPECT_FALSE(text.is_stopped());
}

TEST(StopText, AStopAcrossPiecesIsNeverHalfShown) {
  StopText text({"</end>"});
  EXPECT_EQ(text.push("one </e"), "one ");
  EXPECT_EQ(text.push("n"), "");
  EXPECT_EQ(text.push("d> two"), "");
  EXPECT_TRUE(text.is_stopped());
  EXPECT_EQ(text.push("three"), "");
  EXPECT_EQ(text.finish(), "");
}

TEST(StopText, WhatOnlyBeganLikeAStopIsShownAfterAll) {
  EXPECT_EQ(shown({"stop"}, {"st", "and", "s", "to"}), "standsto");
  EXPECT_EQ(shown({"aab"}, {"a", "a", "a", "b", "c"}), "a");
}

TEST(StopText, TheFirstToBeCompleteOfSeveralStopsWins) {
  EXPECT_EQ(shown({"two", "wo", "x"}, {"one two x"}), "one ");
  EXPECT_EQ(shown({"two x", "w"}, {"one two x"}), "one t");
}

TEST(StopText, SaysWhichOneCame) {
  StopText text({"two x", "w", "ow"});
  EXPECT_EQ(text.stop(), "");
  EXPECT_EQ(text.push("one t"), "one ");
  EXPECT_EQ(text.stop(), "");
  text.push("wo x");
  EXPECT_EQ(text.stop(), "w");
  StopText longest({"b", "ab"});
  longest.push("xab");
  EXPECT_EQ(longest.stop(), "ab");
}

TEST(StopText, HoweverATextIsCutItShowsTheSame) {
  RandomNumbers random(5);
  const auto any_text = [&](std::uint64_t most) {
    std::string text;
    for (std::uint64_t length = random.below(most); length > 0; --length)
      text += static_cast<char>('a' + random.below(2));
    return text;
  };
  for (int round = 0; round < 3000; ++round) {
    const std::vector<std::string> stops = {any_text(5), any_text(5)};
    const std::string text = any_text(12);
    std::pair<std::size_t, std::size_t> first(std::string::npos, text.size());  // end and begin of what stops it
    for (const std::string& stop : stops) {
      const std::size_t begin = stop.empty() ? std::string::npos : text.find(stop);
      if (begin != std::string::npos) first = std::min(first, {begin + stop.size(), begin});
    }
    std::vector<std::string> pieces;
    for (std::size_t at = 0; at < text.size(); at += pieces.back().size()) {
      pieces.push_back(text.substr(at, 1 + random.below(3)));
    }
    ASSERT_EQ(shown(stops, pieces), text.substr(0, first.second))
        << text << " stopped by " << stops[0] << " and " << stops[1];
  }
}

}  // namespace
}  // namespace ingot
