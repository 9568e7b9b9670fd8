// A vocabulary at work: one pre-tokenized piece of text becomes ids. There is one implementation a TokenizerModel.
#pragma once

#include <array>
#include <memory>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/tokenizer/description.h"
#include "model/tokenizer/symbol_merge.h"
#include "model/tokenizer/trie.h"

namespace ingot {

class Segmentation {
 public:
  // Memory that calls reuse; one a thread.
  struct Scratch {
    SymbolList symbols;
  };

  virtual ~Segmentation() = default;
  // Precondition: piece is not empty.
  virtual Result<void> append_ids(std::string_view piece, Scratch& scratch, std::vector<TokenId>& ids) const = 0;
};

// The description must outlive what these return.
Result<std::unique_ptr<const Segmentation>> create_byte_pair(const TokenizerDescription& description);
Result<std::unique_ptr<const Segmentation>> create_sentence_piece(const TokenizerDescription& description);
Result<std::unique_ptr<const Segmentation>> create_unigram(const TokenizerDescription& description);
Result<std::unique_ptr<const Segmentation>> create_word_piece(const TokenizerDescription& description);

// Whether a model may make this token from text. Control tokens, the unknown one and <0xNN> have a text only to be
// shown: text that spells them must not become them.
inline bool is_made_from_text(TokenType type) {
  return type == TokenType::normal || type == TokenType::user_defined || type == TokenType::unused;
}
// Those tokens by their texts, which are the description's.
Result<Trie> tokens_from_text(const TokenizerDescription& description);

// The tokens that stand for single bytes (<0xNN>), and what to do where there is none.
class FallbackTokens {
 public:
  explicit FallbackTokens(const TokenizerDescription& description);

  bool covers(std::string_view text) const;
  TokenId byte_token(char byte) const { return bytes_[static_cast<std::uint8_t>(byte)]; }
  // The bytes of the text, or else the unknown token (once for neighbours, or not at all, if the description says so).
  Result<void> append_ids(std::string_view text, bool follows_unknown, std::vector<TokenId>& ids) const;

 private:
  std::array<TokenId, 256> bytes_;
  bool has_bytes_, fuses_unknown_, drops_unknown_;
  TokenId unknown_;
};

// The byte that a token of the form <0xNN> stands for, or -1.
int byte_of_token(std::string_view text);

}  // namespace ingot
