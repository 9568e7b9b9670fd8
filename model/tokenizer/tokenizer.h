// Text to token ids and back, for the vocabularies of GGUF files and of Hugging Face's tokenizer.json.
//
//   const Tokenizer tokenizer = TRY(Tokenizer::create(TRY(describe_gguf_tokenizer(metadata))));
//   const std::vector<TokenId> ids = TRY(tokenizer.encode("Hello", {.adds_special_tokens = true}));
//   std::string text = tokenizer.decode(ids);
//
// A Tokenizer never changes and may be used by many threads at once.
//
// Bytes that are no UTF-8: patterns see each as U+FFFD. A vocabulary of bytes (byte-level, byte fallback) keeps the
// byte, so that decoding gives it back; any other, and every step of a normalizer that looks at characters, has U+FFFD
// instead.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/tokenizer/description.h"
#include "model/tokenizer/text_range.h"

namespace ingot {

struct EncodeOptions {
  bool adds_special_tokens = true;     // what the model wants around a text: bos, [CLS] ... [SEP]
  bool parses_special_tokens = false;  // "<|im_end|>" in the text is the token of this name
  // Stretches that somebody else wrote, in order: a special token has no byte in them.
  std::span<const TextRange> foreign = {};
};

struct DecodeOptions {
  bool keeps_special_tokens = false;
  bool is_text_begin = true;  // what encode() put in front of a text (SentencePiece's space) is left out again
};

class Tokenizer {
 public:
  static Result<Tokenizer> create(TokenizerDescription description);

  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;
  ~Tokenizer();

  Result<std::vector<TokenId>> encode(std::string_view text, EncodeOptions options = {}) const;
  // The bytes of the tokens, which need not be UTF-8; ids that are none are left out. Detokenizer does it as they come.
  std::string decode(std::span<const TokenId> ids, DecodeOptions options = {}) const;

  std::int32_t vocabulary_size() const;
  bool is_token(TokenId id) const { return id >= 0 && id < vocabulary_size(); }
  // The bytes the token stands for; special tokens as they are spelled; nothing for an id that is none.
  std::string_view piece(TokenId id) const;
  // The token that the vocabulary or its added tokens spell like this, or no_token.
  TokenId find(std::string_view text) const;

  TokenId bos() const;
  TokenId eos() const;
  TokenId unknown() const;
  TokenId padding() const;
  bool is_special(TokenId id) const;
  bool is_end_of_generation(TokenId id) const;

  // Everything else that the file said.
  const TokenizerDescription& description() const;

 private:
  struct State;
  explicit Tokenizer(std::unique_ptr<const State> state);

  std::unique_ptr<const State> state_;
};

}  // namespace ingot
