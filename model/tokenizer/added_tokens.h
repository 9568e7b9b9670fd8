// Finds added tokens in a text, leftmost first and the longest of those that begin at one place.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "model/tokenizer/description.h"
#include "model/tokenizer/trie.h"

namespace ingot {

class AddedTokens {
 public:
  // A stretch of the text between added tokens, or one of them.
  struct Part {
    std::string_view text;
    TokenId id = no_token;
  };

  static Result<AddedTokens> create(std::vector<AddedToken> tokens);

  bool is_empty() const { return tokens_.empty(); }
  // Parts of text are never empty. Special tokens are ordinary text unless they are asked for.
  std::vector<Part> split(std::string_view text, bool finds_special) const;

 private:
  const AddedToken* longest_at(std::string_view text, std::size_t position, bool finds_special) const;

  std::vector<AddedToken> tokens_;
  Trie trie_;
};

}  // namespace ingot
