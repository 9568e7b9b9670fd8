#include "engine/stop_text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "base/random.h"

namespace ingot {
namespace {

StopText stopped_by(const std::vector<std::string>& stops) { return StopText(std::make_shared<StopStrings>(stops)); }

// All that is shown of a text that comes in these pieces.
std::string shown(const std::vector<std::string>& stops, const std::vector<std::string>& pieces) {
  StopText text = stopped_by(stops);
  std::string all;
  for (const std::string& piece : pieces) all += text.push(piece);
  return all + text.finish();
}

TEST(StopText, WithoutStopsEverythingIsShownAtOnce) {
  StopText text = stopped_by({""});
  EXPECT_EQ(text.push("abc"), "abc");
  EXPECT_FALSE(text.is_stopped());
}

TEST(StopText, AStopAcrossPiecesIsNeverHalfShown) {
  StopText text = stopped_by({"</end>"});
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
  StopText text = stopped_by({"two x", "w", "ow"});
  EXPECT_EQ(text.stop(), "");
  EXPECT_EQ(text.push("one t"), "one ");
  EXPECT_EQ(text.stop(), "");
  text.push("wo x");
  EXPECT_EQ(text.stop(), "w");
  StopText longest = stopped_by({"b", "ab"});
  longest.push("xab");
  EXPECT_EQ(longest.stop(), "ab");
}

TEST(StopText, PeriodicStopsWaitNoLongerThanTheyMust) {
  const std::string period(1000, 'a');
  StopText text = stopped_by({period + "b"});
  EXPECT_EQ(text.push(period), "");
  for (int i = 0; i < 5000; ++i) ASSERT_EQ(text.push("a"), "a");
  EXPECT_EQ(text.push("c"), period + "c");
  EXPECT_EQ(text.push(period + "aa"), "aa");
  EXPECT_EQ(text.push("b and more"), "");
  EXPECT_EQ(text.stop(), period + "b");
}

TEST(StopText, OfStopsThatBeginAlikeTheShorterOneIsCompleteFirst) {
  EXPECT_EQ(shown({"abc", "ab"}, {"x", "a", "b", "c"}), "x");
  StopText text = stopped_by({"aabaac", "baa"});
  EXPECT_EQ(text.push("aaba"), "");
  EXPECT_EQ(text.push("ac"), "aa");
  EXPECT_EQ(text.stop(), "baa");
}

// By looking at all of the text again after every piece.
struct NaiveStopText {
  std::vector<std::string> stops;
  std::string all = {};
  std::size_t shown_bytes = 0;
  bool is_stopped = false;

  std::string push(std::string_view text) {
    if (is_stopped) return {};
    all += text;
    std::pair<std::size_t, std::size_t> first(std::string::npos, 0);  // end and begin of what stops it
    for (const std::string& stop : stops) {
      const std::size_t begin = stop.empty() ? std::string::npos : all.find(stop);
      if (begin != std::string::npos) first = std::min(first, {begin + stop.size(), begin});
    }
    is_stopped = first.first != std::string::npos;
    std::size_t end = is_stopped ? first.second : all.size();
    for (std::size_t begin = shown_bytes; begin < all.size() && !is_stopped; ++begin) {
      const std::string rest = all.substr(begin);
      const auto waits = [&](const std::string& stop) { return stop.starts_with(rest); };
      if (std::ranges::any_of(stops, waits)) end = std::min(end, begin);
    }
    const std::size_t begin = std::exchange(shown_bytes, end);
    return all.substr(begin, end - begin);
  }
};

TEST(StopText, ShowsWhatANaiveOneShowsPieceByPiece) {
  RandomNumbers random(5);
  const auto any_text = [&](std::uint64_t most) {
    std::string text;
    for (std::uint64_t length = random.below(most); length > 0; --length)
      text += static_cast<char>('a' + random.below(2));
    return text;
  };
  for (int round = 0; round < 4000; ++round) {
    const std::vector<std::string> stops = {any_text(9), any_text(7), any_text(5)};
    StopText text = stopped_by(stops);
    NaiveStopText naive{.stops = stops};
    std::string given;
    for (int pieces = 0; pieces < 12; ++pieces) {
      const std::string piece = any_text(4);
      given += piece;
      ASSERT_EQ(text.push(piece), naive.push(piece))
          << given << " stopped by " << stops[0] << ", " << stops[1] << ", " << stops[2];
      ASSERT_EQ(text.is_stopped(), naive.is_stopped);
    }
    ASSERT_EQ(text.finish(), naive.is_stopped ? "" : naive.all.substr(naive.shown_bytes));
  }
}

}  // namespace
}  // namespace ingot
