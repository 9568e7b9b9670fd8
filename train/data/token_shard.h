// A file of token ids, used where it lies. All numbers are little-endian:
//
//   offset  bytes  field
//        0      8  magic: 89 'I' 'N' 'G' 'T' 'O' 'K' 0a
//        8      4  version: 1
//       12      4  width of an id in bytes: 2 or 4
//       16      4  vocabulary: every id is less
//       20      4  zero
//       24      8  tokenizer_hash of the tokenizer that made the ids
//       32      n  the ids
//   32 + n      8  how many ids there are
//
// The count comes last because it is known last: a text of any size is encoded in one pass. It also tells a file that
// was cut off from a whole one. No text begins like the magic: its first byte begins no UTF-8 character.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "model/files/mapped_file.h"
#include "model/files/replaced_file.h"
#include "model/tokenizer/tokenizer.h"

namespace ingot {

// Which tokenizer the ids belong to.
struct TokenOrigin {
  std::uint32_t vocabulary = 0;
  std::uint64_t tokenizer_hash = 0;
  bool operator==(const TokenOrigin&) const = default;
};

TokenOrigin origin_of(const Tokenizer& tokenizer);

class TokenShard {
 public:
  // Every field and every id is checked.
  static Result<TokenShard> open(const std::string& path);
  static bool is_shard(std::span<const std::byte> bytes);

  std::uint64_t size() const { return count_; }
  const TokenOrigin& origin() const { return origin_; }
  int id_width() const { return width_; }

  // ids.size() ids from `begin` on. Precondition: begin + ids.size() <= size().
  void copy(std::uint64_t begin, std::span<TokenId> ids) const;

 private:
  TokenShard(MappedFile file, TokenOrigin origin, int width, std::uint64_t count)
      : file_(std::move(file)), origin_(origin), width_(width), count_(count) {}

  MappedFile file_;
  TokenOrigin origin_;
  int width_;
  std::uint64_t count_;
};

// The file appears whole, with commit(), or not at all.
class TokenShardWriter {
 public:
  static Result<TokenShardWriter> create(const std::string& path, const TokenOrigin& origin);

  Result<void> append(std::span<const TokenId> ids);
  std::uint64_t size() const { return count_; }
  Result<void> commit();

 private:
  TokenShardWriter(ReplacedFile file, const TokenOrigin& origin);

  ReplacedFile file_;
  TokenOrigin origin_;
  int width_;
  std::uint64_t count_ = 0;
};

}  // namespace ingot
