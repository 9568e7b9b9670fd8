#include <algorithm>
#include <cmath>
#include <functional>

#include "base/utf8.h"
#include "model/tokenizer/segmentation.h"
#include "model/tokenizer/token_map.h"

namespace ingot {

namespace {

constexpr std::size_t longest_token = 1024;

class SentencePiece final : public Segmentation {
 public:
  explicit SentencePiece(const TokenizerDescription& description) : fallback_(description) {
    std::vector<double> order(description.scores);
    std::sort(order.begin(), order.end(), std::greater<>());
    order.erase(std::unique(order.begin(), order.end()), order.end());
    priorities_.reserve(description.tokens.size());
    for (std::size_t id = 0; id < description.tokens.size(); ++id) {
      const auto place = std::lower_bound(order.begin(), order.end(), description.scores[id], std::greater<>());
      priorities_.push_back(static_cast<std::uint32_t>(place - order.begin()));
      const std::string& token = description.tokens[id];
      if (!is_made_from_text(description.types[id])) continue;
      tokens_.insert(token, static_cast<std::int32_t>(id));
      longest_ = std::max(longest_, token.size());
    }
  }

  Result<void> append_ids(std::string_view piece, Scratch& scratch, std::vector<TokenId>& ids) const override {
    SymbolList& symbols = scratch.symbols;
    symbols.clear();
    for (std::size_t position = 0; position < piece.size();) {
      const std::size_t size = decode_utf8(piece, position).size;
      symbols.append(tokens_.find(piece.substr(position, size)), static_cast<std::uint32_t>(position),
                     static_cast<std::uint32_t>(size));
      position += size;
    }
    symbols.merge([&](const Symbol& left, const Symbol& right) {
      const std::size_t size = std::size_t{left.size} + right.size;
      if (size > longest_) return MergedPair{};
      const std::int32_t id = tokens_.find(piece.substr(left.begin, size));
      return id < 0 ? MergedPair{} : MergedPair{id, priorities_[static_cast<std::size_t>(id)]};
    });
    Result<void> result;
    bool follows_unknown = false;
    symbols.for_each([&](const Symbol& symbol) {
      if (symbol.id >= 0) {
        ids.push_back(symbol.id);
      } else if (auto appended = fallback_.append_ids(piece.substr(symbol.begin, symbol.size), follows_unknown, ids);
                 !appended.ok()) {
        result = appended;
      }
      follows_unknown = symbol.id < 0;
    });
    return result;
  }

 private:
  TokenMap tokens_;
  std::vector<std::uint32_t> priorities_;  // of the tokens by score, the best first
  std::size_t longest_ = 0;
  FallbackTokens fallback_;
};

}  // namespace

Result<std::unique_ptr<const Segmentation>> create_sentence_piece(const TokenizerDescription& description) {
  if (description.scores.size() != description.tokens.size()) {
    return Error::of(ErrorCode::corrupt, "tokenizer scores: expected ", description.tokens.size(), ", found ",
                     description.scores.size());
  }
  // Texts are compared at every merge: without a bound, that would depend on the vocabulary.
  for (std::size_t id = 0; id < description.tokens.size(); ++id) {
    if (description.tokens[id].size() > longest_token) {
      return Error::of(ErrorCode::unsupported, "token ", id, ": expected at most ", longest_token, " bytes, found ",
                       description.tokens[id].size());
    }
  }
  return std::unique_ptr<const Segmentation>(std::make_unique<SentencePiece>(description));
}

}  // namespace ingot
