#include "train/data/encode_text.h"

#include <vector>

#include "train/data/text_pieces.h"

namespace ingot {

TokenId document_separator(const Tokenizer& tokenizer) {
  const TokenId usual = tokenizer.find(usual_separator);
  return tokenizer.is_special(usual) ? usual : tokenizer.eos();
}

Result<void> encode_text(std::string_view text, const Tokenizer& tokenizer, TokenId separator, const TokenSink& sink,
                         const TextProgress& progress) {
  // An id that is none has no text, and then nothing separates.
  TextPieces pieces(text, tokenizer.piece(separator));
  while (const std::optional<TextPiece> piece = pieces.next()) {
    std::vector<TokenId> ids =
        TRY(tokenizer.encode(piece->text, {.adds_special_tokens = false, .parses_special_tokens = true}));
    if (piece->ends_document && separator != no_token) ids.push_back(separator);
    TRY(sink(ids));
    if (progress) progress(pieces.position());
  }
  return {};
}

}  // namespace ingot
