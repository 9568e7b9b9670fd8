#include "model/tokenizer/detokenizer.h"

#include "base/utf8.h"

namespace ingot {

std::string Detokenizer::push(TokenId id, bool is_shown) {
  if (tokenizer_->is_special(id) && !options_.keeps_special_tokens && !is_shown) return {};
  std::string_view piece = tokenizer_->piece(id);
  if (strips_space_ && !piece.empty()) {
    if (piece.starts_with(' ')) piece.remove_prefix(1);
    strips_space_ = false;
  }
  pending_ += piece;
  return take_complete(false);
}

std::string Detokenizer::finish() { return take_complete(true); }

std::string Detokenizer::take_complete(bool is_end) {
  std::string text;
  std::size_t position = 0;
  while (position < pending_.size()) {
    const DecodedCharacter character = decode_utf8(pending_, position);
    if (!character.is_valid && !is_end && incomplete_sequence_size(pending_, position) > 0) break;
    append_utf8(text, character.code);
    position += character.size;
  }
  pending_.erase(0, position);
  return text;
}

}  // namespace ingot
