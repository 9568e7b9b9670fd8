#include "model/tokenizer/added_tokens.h"

#include <algorithm>
#include <utility>

#include "base/utf8.h"
#include "model/unicode/properties.h"

namespace ingot {

namespace {

std::string_view without_trailing_space(std::string_view text) {
  while (!text.empty()) {
    const std::size_t begin = previous_character(text, text.size());
    if (!is_white_space(decode_utf8(text, begin).code)) break;
    text = text.substr(0, begin);
  }
  return text;
}

bool stands_alone(std::string_view text, std::size_t begin, std::size_t end) {
  if (begin > 0 && is_word_character(decode_utf8(text, previous_character(text, begin)).code)) return false;
  return end == text.size() || !is_word_character(decode_utf8(text, end).code);
}

}  // namespace

bool SpecialSearch::finds(TextRange token) const {
  if (!is_on) return false;
  const auto behind = std::partition_point(foreign.begin(), foreign.end(),
                                           [&](const TextRange& range) { return range.end <= token.begin; });
  return behind == foreign.end() || behind->begin >= token.end;
}

Result<AddedTokens> AddedTokens::create(std::vector<AddedToken> tokens) {
  AddedTokens result;
  result.tokens_ = std::move(tokens);
  std::vector<Trie::Entry> entries;
  for (std::size_t index = 0; index < result.tokens_.size(); ++index) {
    entries.emplace_back(result.tokens_[index].text, static_cast<std::int32_t>(index));
  }
  result.trie_ = TRY(Trie::create(std::move(entries)));
  return result;
}

bool AddedTokens::has_special() const {
  return std::any_of(tokens_.begin(), tokens_.end(), [](const AddedToken& token) { return token.is_special; });
}

const AddedToken* AddedTokens::longest_at(std::string_view text, std::size_t position,
                                          const SpecialSearch& special) const {
  const AddedToken* longest = nullptr;
  std::uint32_t node = Trie::root;
  for (std::size_t end = position; end < text.size();) {
    node = trie_.child(node, text[end++]);
    if (node == Trie::no_node) break;
    if (trie_.value(node) == Trie::no_value) continue;
    const AddedToken& token = tokens_[static_cast<std::size_t>(trie_.value(node))];
    if (!token.is_special || special.finds({position, end})) longest = &token;
  }
  return longest;
}

std::vector<AddedTokens::Part> AddedTokens::split(std::string_view text, const SpecialSearch& special) const {
  std::vector<Part> parts;
  std::size_t begin = 0;  // of the text that has not become a part
  const auto append_text = [&](std::string_view part) {
    if (!part.empty()) parts.push_back({part, no_token});
  };
  for (std::size_t position = 0; position < text.size() && !tokens_.empty();) {
    const AddedToken* token = longest_at(text, position, special);
    if (token == nullptr) {
      ++position;
      continue;
    }
    const std::size_t end = position + token->text.size();
    if (token->is_single_word && !stands_alone(text, position, end)) {
      position = end;
      continue;
    }
    const std::string_view before = begin < position ? text.substr(begin, position - begin) : std::string_view();
    append_text(token->strips_left ? without_trailing_space(before) : before);
    parts.push_back({text.substr(position, token->text.size()), token->id});
    // Stripped space is no text, but may still be part of the next token.
    begin = end;
    while (token->strips_right && begin < text.size()) {
      const DecodedCharacter character = decode_utf8(text, begin);
      if (!is_white_space(character.code)) break;
      begin += character.size;
    }
    position = end;
  }
  append_text(text.substr(begin));
  return parts;
}

}  // namespace ingot
