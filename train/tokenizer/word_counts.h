// The distinct words of a text, as a pre-tokenizer makes them, and how often each occurs: all that a tokenizer's
// training needs to know of the text.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/tokenizer/added_tokens.h"
#include "model/tokenizer/pre_tokenizer.h"
#include "model/tokenizer/token_map.h"

namespace ingot {

struct WordCount {
  std::string_view text;
  std::uint64_t count;
};

class WordCounter {
 public:
  // Each pattern splits what the one before left. Special tokens are no words: the first ends documents.
  static Result<WordCounter> create(std::span<const std::string_view> patterns,
                                    std::span<const std::string> special_tokens);

  // The text must outlive this: words lie in it. The progress is told how many of its bytes are done.
  Result<void> add(std::string_view text, const std::function<void(std::uint64_t)>& progress = {});

  // In the order of their first occurrence.
  std::span<const WordCount> words() const { return words_; }
  std::uint64_t special_count() const { return special_count_; }

 private:
  Result<void> add_piece(std::string_view piece);

  PreTokenizer pre_tokenizer_;
  std::string separator_;
  AddedTokens other_special_;
  TokenMap indices_;
  std::vector<WordCount> words_;
  std::uint64_t special_count_ = 0;
};

}  // namespace ingot
