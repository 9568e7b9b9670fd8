#include "model/grammar/token_trie.h"

#include <algorithm>

namespace ingot::grammar {

Result<std::shared_ptr<const TokenTrie>> TokenTrie::create(std::span<const std::string_view> pieces,
                                                           std::span<const TokenId> ends) {
  std::shared_ptr<TokenTrie> trie(new TokenTrie());
  trie->same_.assign(pieces.size(), no_token);
  std::vector<TokenId> order;
  for (std::size_t id = 0; id < pieces.size(); ++id) {
    if (pieces[id].size() > longest_token) {
      return Error::of(ErrorCode::out_of_range, "expected tokens of at most ", longest_token, " bytes, found one of ",
                       pieces[id].size());
    }
    if (!pieces[id].empty()) order.push_back(static_cast<TokenId>(id));
  }
  for (const TokenId end : ends) {
    if (end < 0 || static_cast<std::size_t>(end) >= pieces.size()) {
      return Error::of(ErrorCode::out_of_range, "expected tokens below ", pieces.size(), " to end by, found ", end);
    }
    trie->ends_.push_back(end);
  }
  const auto piece = [&](TokenId id) { return pieces[static_cast<std::size_t>(id)]; };
  std::ranges::sort(order, [&](TokenId left, TokenId right) {
    return piece(left) != piece(right) ? piece(left) < piece(right) : left > right;
  });
  std::vector<std::uint32_t> path;  // the nodes that spell the text before
  std::string_view before;
  auto& nodes = trie->nodes_;
  for (const TokenId id : order) {
    const std::string_view text = piece(id);
    const auto shared = static_cast<std::size_t>(std::ranges::mismatch(text, before).in1 - text.begin());
    for (; path.size() > shared; path.pop_back()) nodes[path.back()].next = static_cast<std::uint32_t>(nodes.size());
    for (std::size_t depth = shared; depth < text.size(); ++depth) {
      path.push_back(static_cast<std::uint32_t>(nodes.size()));
      nodes.push_back({0, no_token, static_cast<std::uint16_t>(depth), static_cast<std::uint8_t>(text[depth])});
    }
    trie->same_[static_cast<std::size_t>(id)] = nodes[path.back()].token;
    nodes[path.back()].token = id;
    before = text;
  }
  for (const std::uint32_t node : path) nodes[node].next = static_cast<std::uint32_t>(nodes.size());
  return std::shared_ptr<const TokenTrie>(std::move(trie));
}

Result<std::shared_ptr<const TokenTrie>> TokenTrie::of(const Tokenizer& tokenizer) {
  std::vector<std::string_view> pieces;
  std::vector<TokenId> ends;
  for (TokenId id = 0; id < tokenizer.vocabulary_size(); ++id) {
    if (tokenizer.is_end_of_generation(id)) ends.push_back(id);
    const bool is_text = !tokenizer.is_special(id) && !tokenizer.is_end_of_generation(id);
    pieces.push_back(is_text ? tokenizer.piece(id) : std::string_view());
  }
  return create(pieces, ends);
}

}  // namespace ingot::grammar
