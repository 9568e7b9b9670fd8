#include "model/tokenizer/pieces.h"

#include <algorithm>
#include <array>

#include "model/tokenizer/byte_alphabet.h"
#include "model/tokenizer/segmentation.h"
#include "model/tokenizer/spelled_space.h"

namespace ingot {

namespace {

// What no space stands before in ordinary writing.
bool follows_without_space(std::string_view word) {
  constexpr std::array<std::string_view, 9> words = {".", "?", "!", ",", "n't", "'m", "'s", "'ve", "'re"};
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::string word_piece(const TokenizerDescription& description, std::string_view token) {
  const std::string_view continuation = description.continuation_prefix;
  const std::string_view word = description.word_prefix;
  const bool continues = continuation.empty() ? !token.starts_with(word) : token.starts_with(continuation);
  if (continues) return std::string(token.substr(continuation.size()));
  token.remove_prefix(word.size());
  const bool is_tight = description.cleans_up_spaces && follows_without_space(token);
  return (is_tight ? "" : " ") + std::string(token);
}

}  // namespace

Pieces::Pieces(const TokenizerDescription& description) {
  begins_.reserve(description.tokens.size() + 1);
  std::vector<bool> is_added(description.tokens.size());
  for (const AddedToken& token : description.added_tokens) is_added[static_cast<std::size_t>(token.id)] = true;
  for (std::size_t id = 0; id < description.tokens.size(); ++id) {
    const std::string& token = description.tokens[id];
    const TokenType type = description.types[id];
    const bool is_word_piece = description.model == TokenizerModel::word_piece;
    if (type == TokenType::byte && byte_of_token(token) >= 0) {
      bytes_ += static_cast<char>(byte_of_token(token));
    } else if (is_added[id] || !is_made_from_text(type)) {
      if (is_word_piece) bytes_ += ' ';
      bytes_ += token;
    } else if (is_word_piece) {
      bytes_ += word_piece(description, token);
    } else if (description.is_byte_level) {
      bytes_ += bytes_of_spelled(token).value_or(token);
    } else {
      bytes_ += description.spells_spaces ? replaced(token, spelled_space, " ") : token;
    }
    begins_.push_back(bytes_.size());
  }
}

}  // namespace ingot
