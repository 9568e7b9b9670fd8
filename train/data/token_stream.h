// All tokens of a training run as one row, whatever files they come from: shards stay where they lie, texts are
// tokenised in memory.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "train/data/encode_text.h"
#include "train/data/token_shard.h"

namespace ingot {

class TokenStream {
 public:
  // Files of token ids and files of UTF-8 text, told apart by how they begin. A shard of another tokenizer is an error.
  // The progress is told the bytes done of the text now read.
  static Result<TokenStream> open(std::span<const std::string> paths, const Tokenizer& tokenizer,
                                  const TextProgress& progress = {});

  // A text's documents, each followed by the token that ends it.
  Result<void> append_text(std::string_view text, const Tokenizer& tokenizer, const TextProgress& progress = {});
  void append(TokenShard shard);
  void append(std::vector<TokenId> ids);

  std::uint64_t size() const { return size_; }
  // ids.size() ids from `begin` on. Precondition: begin + ids.size() <= size().
  void copy(std::uint64_t begin, std::span<TokenId> ids) const;
  // One number for all ids in their order: other data has another, but for one chance in 2^64.
  std::uint64_t hash() const;

 private:
  struct Part {
    std::uint64_t end;                                  // in the whole row
    std::unique_ptr<const TokenShard> shard = nullptr;  // or else the ids
    std::vector<TokenId> ids = {};
  };

  std::vector<Part> parts_;
  std::uint64_t size_ = 0;
};

}  // namespace ingot
