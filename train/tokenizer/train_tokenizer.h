// A tokenizer made from a text: byte-level byte-pair encoding, so that every text can be said in it.
//
// Ids: 0..255 are the bytes, then come the merged tokens as they were learnt, then the special tokens. The first
// special token ends documents; the text is cut at all of them, so that no merge knows how they are spelled.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/tokenizer/description.h"

namespace ingot {

struct TokenizerTraining {
  std::int64_t vocabulary = 0;  // tokens of all kinds
  std::vector<std::string> special_tokens = {"<|end|>"};
  std::string pattern = "llama3";  // a name that tokenizer.ggml.pre may have
};

struct TrainedTokenizer {
  TokenizerDescription description;  // fewer tokens than asked for where the text has no more pairs
  std::uint64_t bytes = 0, characters = 0;
  std::uint64_t words = 0, distinct_words = 0;
  std::uint64_t tokens = 0;  // what the text becomes
};

enum class TrainingPhase : std::uint8_t { counting, merging };
// How many bytes are counted, how many tokens are there; and of how many.
using TrainingProgress = std::function<void(TrainingPhase phase, std::uint64_t done, std::uint64_t total)>;

// What can be said before any text is read.
Result<void> check_training(const TokenizerTraining& training);

Result<TrainedTokenizer> train_tokenizer(std::span<const std::string_view> texts, const TokenizerTraining& training,
                                         const TrainingProgress& progress = {});

}  // namespace ingot
