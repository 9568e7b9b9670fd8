#include "base/utf8.h"
#include "model/tokenizer/segmentation.h"
#include "model/tokenizer/trie.h"

namespace ingot {

namespace {

// Tokens that begin a word are spelled with word_prefix, those that continue one with continuation_prefix: "playing" is
// play ##ing in BERT's files and ▁play ing in GGUF. Each prefix is a place in the tree where the walk begins.
class WordPiece final : public Segmentation {
 public:
  WordPiece(const TokenizerDescription& description, Trie trie)
      : trie_(std::move(trie)),
        longest_word_(description.longest_word),
        unknown_(description.unknown),
        has_word_prefix_(!description.word_prefix.empty()),
        has_continuation_prefix_(!description.continuation_prefix.empty()),
        word_begin_(trie_.walk(Trie::root, description.word_prefix)),
        continuation_begin_(trie_.walk(Trie::root, description.continuation_prefix)) {}

  Result<void> append_ids(std::string_view word, Scratch&, std::vector<TokenId>& ids) const override {
    const std::size_t count = ids.size();
    if (code_points(word) <= longest_word_ && append_pieces(word, ids)) return {};
    ids.resize(count);
    ids.push_back(unknown_);
    return {};
  }

 private:
  static std::int32_t code_points(std::string_view word) {
    std::int32_t count = 0;
    for (std::size_t position = 0; position < word.size(); ++count) position += decode_utf8(word, position).size;
    return count;
  }

  bool append_pieces(std::string_view word, std::vector<TokenId>& ids) const {
    for (std::size_t position = 0; position < word.size();) {
      const bool is_begin = position == 0;
      std::uint32_t node = is_begin ? word_begin_ : continuation_begin_;
      // The prefix may be no path of the tree at all.
      if (node == Trie::no_node && (is_begin ? has_word_prefix_ : has_continuation_prefix_)) return false;
      TokenId longest = no_token;
      std::size_t longest_end = position;
      for (std::size_t end = position; end < word.size();) {
        node = trie_.child(node, word[end++]);
        if (node == Trie::no_node) break;
        if (trie_.value(node) == Trie::no_value) continue;
        longest = trie_.value(node);
        longest_end = end;
      }
      if (longest == no_token) return false;
      ids.push_back(longest);
      position = longest_end;
    }
    return true;
  }

  Trie trie_;
  std::int32_t longest_word_;
  TokenId unknown_;
  bool has_word_prefix_, has_continuation_prefix_;
  std::uint32_t word_begin_, continuation_begin_;
};

}  // namespace

Result<std::unique_ptr<const Segmentation>> create_word_piece(const TokenizerDescription& description) {
  if (description.unknown == no_token) {
    return Error::of(ErrorCode::corrupt, "WordPiece tokenizer: expected an unknown token, found none");
  }
  Trie trie = TRY(tokens_from_text(description));
  return std::unique_ptr<const Segmentation>(std::make_unique<WordPiece>(description, std::move(trie)));
}

}  // namespace ingot
