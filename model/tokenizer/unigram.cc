#include <algorithm>
#include <limits>

#include "base/utf8.h"
#include "model/tokenizer/segmentation.h"
#include "model/tokenizer/trie.h"

namespace ingot {

namespace {

// How much worse than the worst token an unknown character is.
constexpr double unknown_penalty = 10;

class Unigram final : public Segmentation {
 public:
  Unigram(const TokenizerDescription& description, Trie trie)
      : description_(description), trie_(std::move(trie)), fallback_(description) {
    double worst = 0;
    for (std::size_t id = 0; id < description.tokens.size(); ++id) {
      if (description.types[id] == TokenType::normal) worst = std::min(worst, description.scores[id]);
    }
    unknown_score_ = worst - unknown_penalty;
  }

  Result<void> append_ids(std::string_view piece, Scratch&, std::vector<TokenId>& ids) const override {
    const std::vector<Step> best = best_steps(piece);
    std::vector<std::size_t> ends;
    for (std::size_t end = piece.size(); end > 0; end = best[end].begin) ends.push_back(end);
    bool follows_unknown = false;
    for (auto end = ends.rbegin(); end != ends.rend(); ++end) {
      const Step& step = best[*end];
      if (step.id != no_token) {
        ids.push_back(step.id);
      } else {
        TRY(fallback_.append_ids(piece.substr(step.begin, *end - step.begin), follows_unknown, ids));
      }
      follows_unknown = step.id == no_token;
    }
    return {};
  }

 private:
  // The best way to reach a place: by this token (none: an unknown character) from `begin`.
  struct Step {
    TokenId id = no_token;
    std::uint32_t begin = 0;
    double score = -std::numeric_limits<double>::infinity();
  };

  std::vector<Step> best_steps(std::string_view piece) const {
    std::vector<Step> best(piece.size() + 1);
    best[0].score = 0;
    for (std::size_t begin = 0; begin < piece.size();) {
      const std::size_t size = decode_utf8(piece, begin).size;
      const double score = best[begin].score;
      const auto offer = [&](std::size_t end, TokenId id, double token_score) {
        if (score + token_score > best[end].score) {
          best[end] = {id, static_cast<std::uint32_t>(begin), score + token_score};
        }
      };
      bool has_single = false;
      std::uint32_t node = Trie::root;
      for (std::size_t end = begin; end < piece.size();) {
        node = trie_.child(node, piece[end++]);
        if (node == Trie::no_node) break;
        const std::int32_t id = trie_.value(node);
        if (id == Trie::no_value) continue;
        has_single = has_single || end - begin == size;
        offer(end, id, score_of(id));
      }
      if (!has_single) offer(begin + size, no_token, unknown_score_);
      begin += size;
    }
    return best;
  }

  // What the user defined is always preferred: scores are logarithms, so that 0 is the best there is.
  double score_of(TokenId id) const {
    const auto index = static_cast<std::size_t>(id);
    return description_.types[index] == TokenType::user_defined ? 0 : description_.scores[index];
  }

  const TokenizerDescription& description_;
  Trie trie_;
  double unknown_score_ = 0;
  FallbackTokens fallback_;
};

}  // namespace

Result<std::unique_ptr<const Segmentation>> create_unigram(const TokenizerDescription& description) {
  if (description.scores.size() != description.tokens.size()) {
    return Error::of(ErrorCode::corrupt, "tokenizer scores: expected ", description.tokens.size(), ", found ",
                     description.scores.size());
  }
  Trie trie = TRY(tokens_from_text(description));
  return std::unique_ptr<const Segmentation>(std::make_unique<Unigram>(description, std::move(trie)));
}

}  // namespace ingot
