// Finds added tokens in a text, leftmost first and the longest of those that begin at one place.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "model/tokenizer/description.h"
#include "model/tokenizer/text_range.h"
#include "model/tokenizer/trie.h"

namespace ingot {

// Where special tokens are looked for; elsewhere they are ordinary text.
struct SpecialSearch {
  bool is_on = false;
  std::span<const TextRange> foreign = {};  // stretches of the text that no special token touches, in order

  bool finds(TextRange token) const;
};

class AddedTokens {
 public:
  // A stretch of the text between added tokens, or one of them.
  struct Part {
    std::string_view text;
    TokenId id = no_token;
  };

  static Result<AddedTokens> create(std::vector<AddedToken> tokens);

  bool is_empty() const { return tokens_.empty(); }
  bool has_special() const;
  // Parts of text are never empty.
  std::vector<Part> split(std::string_view text, const SpecialSearch& special) const;

 private:
  const AddedToken* longest_at(std::string_view text, std::size_t position, const SpecialSearch& special) const;

  std::vector<AddedToken> tokens_;
  Trie trie_;
};

}  // namespace ingot
