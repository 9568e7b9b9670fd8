#include "model/tokenizer/segmentation.h"

#include <utility>

#include "model/files/quoted.h"

namespace ingot {

int byte_of_token(std::string_view text) {
  if (text.size() != 6 || !text.starts_with("<0x") || text[5] != '>') return -1;
  const auto digit = [](char character) {
    if (character >= '0' && character <= '9') return character - '0';
    if (character >= 'A' && character <= 'F') return character - 'A' + 10;
    if (character >= 'a' && character <= 'f') return character - 'a' + 10;
    return -1;
  };
  const int high = digit(text[3]);
  const int low = digit(text[4]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

Result<Trie> tokens_from_text(const TokenizerDescription& description) {
  std::vector<Trie::Entry> entries;
  for (std::size_t id = 0; id < description.tokens.size(); ++id) {
    const std::string& token = description.tokens[id];
    if (!token.empty() && is_made_from_text(description.types[id])) {
      entries.emplace_back(token, static_cast<TokenId>(id));
    }
  }
  return Trie::create(std::move(entries));
}

FallbackTokens::FallbackTokens(const TokenizerDescription& description)
    : has_bytes_(description.has_byte_fallback),
      fuses_unknown_(description.fuses_unknown),
      drops_unknown_(description.drops_unknown),
      unknown_(description.unknown) {
  bytes_.fill(no_token);
  for (std::size_t id = 0; id < description.tokens.size(); ++id) {
    if (description.types[id] != TokenType::byte) continue;
    const int byte = byte_of_token(description.tokens[id]);
    if (byte >= 0 && bytes_[static_cast<std::size_t>(byte)] == no_token) {
      bytes_[static_cast<std::size_t>(byte)] = static_cast<TokenId>(id);
    }
  }
}

bool FallbackTokens::covers(std::string_view text) const {
  if (!has_bytes_) return false;
  for (char byte : text) {
    if (byte_token(byte) == no_token) return false;
  }
  return true;
}

Result<void> FallbackTokens::append_ids(std::string_view text, bool follows_unknown, std::vector<TokenId>& ids) const {
  if (covers(text)) {
    for (char byte : text) ids.push_back(byte_token(byte));
    return {};
  }
  if (drops_unknown_) return {};
  if (unknown_ == no_token) {
    return Error::of(ErrorCode::unsupported, "tokenizer: expected a token for ", Quoted{text},
                     " or an unknown token, found neither in the vocabulary");
  }
  if (!fuses_unknown_ || !follows_unknown) ids.push_back(unknown_);
  return {};
}

}  // namespace ingot
