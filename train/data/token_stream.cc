#include "train/data/token_stream.h"

#include <algorithm>
#include <utility>

#include "model/files/quoted.h"
#include "train/data/text_file.h"

namespace ingot {

namespace {

Result<TokenShard> open_shard_of(const std::string& path, const TokenOrigin& expected) {
  TokenShard shard = TRY(TokenShard::open(path));
  if (shard.origin() == expected) return shard;
  return Error::of(ErrorCode::invalid_argument, "token shard ", Quoted{path},
                   ": expected ids of the tokenizer given (vocabulary ", expected.vocabulary, ", hash ",
                   expected.tokenizer_hash, "), found vocabulary ", shard.origin().vocabulary, ", hash ",
                   shard.origin().tokenizer_hash);
}

}  // namespace

Result<TokenStream> TokenStream::open(std::span<const std::string> paths, const Tokenizer& tokenizer,
                                      const TextProgress& progress) {
  if (paths.empty()) return Error::of(ErrorCode::invalid_argument, "training data: expected files, found none");
  TokenStream stream;
  const TokenOrigin origin = origin_of(tokenizer);
  for (const std::string& path : paths) {
    const MappedFile file = TRY(MappedFile::open(path));
    if (TokenShard::is_shard(file.bytes())) {
      stream.append(TRY(open_shard_of(path, origin)));
    } else {
      const TextFile text = TRY(TextFile::open(path));
      TRY(stream.append_text(text.text(), tokenizer, progress));
    }
  }
  return stream;
}

Result<void> TokenStream::append_text(std::string_view text, const Tokenizer& tokenizer, const TextProgress& progress) {
  std::vector<TokenId> ids;
  const auto sink = [&](std::span<const TokenId> more) -> Result<void> {
    ids.insert(ids.end(), more.begin(), more.end());
    return {};
  };
  TRY(encode_text(text, tokenizer, document_separator(tokenizer), sink, progress));
  append(std::move(ids));
  return {};
}

void TokenStream::append(TokenShard shard) {
  size_ += shard.size();
  parts_.push_back({.end = size_, .shard = std::make_unique<const TokenShard>(std::move(shard))});
}

void TokenStream::append(std::vector<TokenId> ids) {
  if (ids.empty()) return;
  size_ += ids.size();
  parts_.push_back({.end = size_, .ids = std::move(ids)});
}

void TokenStream::copy(std::uint64_t begin, std::span<TokenId> ids) const {
  auto part = std::upper_bound(parts_.begin(), parts_.end(), begin,
                               [](std::uint64_t position, const Part& other) { return position < other.end; });
  for (; !ids.empty(); ++part) {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(ids.size(), part->end - begin));
    const std::span<TokenId> now = ids.first(count);
    if (part->shard != nullptr) {
      part->shard->copy(begin - (part->end - part->shard->size()), now);
    } else {
      std::copy_n(part->ids.data() + (begin - (part->end - part->ids.size())), count, now.begin());
    }
    begin += count;
    ids = ids.subspan(count);
  }
}

std::uint64_t TokenStream::hash() const {
  // FNV-1a over whole ids.
  std::uint64_t value = 0xcbf29ce484222325u;
  std::vector<TokenId> ids(std::min<std::uint64_t>(size_, 1 << 16));
  for (std::uint64_t begin = 0; begin < size_; begin += ids.size()) {
    const std::span part(ids.data(), std::min<std::uint64_t>(ids.size(), size_ - begin));
    copy(begin, part);
    for (const TokenId id : part) value = (value ^ static_cast<std::uint32_t>(id)) * 0x100000001b3u;
  }
  return value;
}

}  // namespace ingot
