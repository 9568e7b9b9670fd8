#include "model/tokenizer/text_losses.h"

#include <algorithm>

#include "base/utf8.h"

namespace ingot {

ReadableText readable_text(std::string_view bytes) {
  ReadableText readable;
  readable.text.reserve(bytes.size());
  for (std::size_t position = 0; position < bytes.size();) {
    const DecodedCharacter character = decode_utf8(bytes, position);
    append_utf8(readable.text, character.code);
    readable.replaced += character.is_valid ? 0 : 1;
    position += character.size;
  }
  return readable;
}

Result<std::size_t> count_left_out(const Tokenizer& tokenizer, std::string_view text, EncodeOptions options) {
  const TokenizerDescription& description = tokenizer.description();
  // A normalizer changes texts by design, and then lengths say nothing.
  if (!description.drops_unknown || !description.is_byte_level || !description.normalizer.empty())
    return std::size_t{0};
  options.adds_special_tokens = false;
  const std::vector<TokenId> ids = TRY(tokenizer.encode(text, options));
  std::size_t told = 0;
  for (const TokenId id : ids) told += tokenizer.piece(id).size();
  const bool has_added_space = !ids.empty() && tokenizer.piece(ids.front()).starts_with(' ') && !text.starts_with(' ');
  told -= has_added_space ? 1 : 0;
  return text.size() - std::min(told, text.size());
}

}  // namespace ingot
