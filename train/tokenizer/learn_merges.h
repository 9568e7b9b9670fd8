// Byte-pair encoding learnt from words: the most frequent pair of neighbours becomes a token, again and again.
//
// A pair's count is the number of places where its two tokens stand side by side in the words, each word counted as
// often as it occurs (so that "aaa" has the pair (a, a) twice, though only one of them can be merged: the left one).
// Of equally frequent pairs the one with the lesser left token, then the lesser right token is merged first. Where two
// different pairs spell the same text, the second merge leads to the token of the first and makes no new one.
//
// Counts are kept as merges happen: each pair knows its places, a merge visits those alone and changes the counts of
// at most four pairs at each. Every visit shortens a word by one, and a queue finds the best pair: n bytes of distinct
// words take O(n log n) however many merges are asked for.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "model/tokenizer/description.h"
#include "train/tokenizer/word_counts.h"

namespace ingot {

struct MergeLimits {
  std::size_t tokens = 256;                // the 256 bytes among them
  std::size_t longest_token = 256;         // bytes; keeps hostile texts from making a vocabulary of gigabytes
  std::vector<std::string> kept_out = {};  // bytes that no token may have
};

struct LearnedMerge {
  TokenId left, right;
  bool operator==(const LearnedMerge&) const = default;
};

struct LearnedMerges {
  std::vector<std::string> tokens;  // their bytes; the first 256 are the bytes themselves
  std::vector<LearnedMerge> merges;
  std::uint64_t text_tokens = 0;  // how many tokens the words' text is now
};

// Fewer tokens than the limit where no pair is left. The progress is told how many tokens there are.
Result<LearnedMerges> learn_merges(std::span<const WordCount> words, const MergeLimits& limits,
                                   const std::function<void(std::uint64_t)>& progress = {});

}  // namespace ingot
