// The tokens of a vocabulary as a tree of their bytes, laid out so that a walk reads forward in memory. Built once for
// a tokenizer; never changes.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/tokenizer/tokenizer.h"

namespace ingot::grammar {

class TokenTrie {
 public:
  // Bytes of a token: a bound for walks, far above what vocabularies have.
  static constexpr std::size_t longest_token = 1024;

  struct Node {
    std::uint32_t next;  // the first node that is not below this one
    TokenId token;       // that ends here, or no_token; others with the same bytes: same_as()
    std::uint16_t depth;
    std::uint8_t byte;
  };

  // One piece a token, by its id; an empty one stands for a token that no grammar takes. `ends` end a generation.
  static Result<std::shared_ptr<const TokenTrie>> create(std::span<const std::string_view> pieces,
                                                         std::span<const TokenId> ends);
  // Special tokens are none that a grammar takes, whatever they are spelled like.
  static Result<std::shared_ptr<const TokenTrie>> of(const Tokenizer& tokenizer);

  // In the order of their texts: a node's children follow it, each with what is below it.
  std::span<const Node> nodes() const { return nodes_; }
  TokenId same_as(TokenId token) const { return same_[static_cast<std::size_t>(token)]; }
  std::span<const TokenId> ends() const { return ends_; }
  std::size_t vocabulary_size() const { return same_.size(); }

 private:
  TokenTrie() = default;

  std::vector<Node> nodes_;
  std::vector<TokenId> same_;  // the next token with the same bytes
  std::vector<TokenId> ends_;
};

}  // namespace ingot::grammar
