#include "train/data/token_shard.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "model/files/byte_reader.h"
#include "model/files/quoted.h"
#include "train/data/tokenizer_hash.h"

namespace ingot {

namespace {

constexpr std::array<std::uint8_t, 8> shard_magic = {0x89, 'I', 'N', 'G', 'T', 'O', 'K', '\n'};
constexpr std::uint32_t shard_version = 1;
constexpr std::size_t shard_header_size = 32;
constexpr std::uint32_t largest_vocabulary = 1u << 28;  // as Tokenizer has it

int width_for(std::uint32_t vocabulary) { return vocabulary <= (1u << 16) ? 2 : 4; }

struct ShardHeader {
  TokenOrigin origin;
  int width;
  std::uint64_t count;
};

Result<ShardHeader> read_shard_header(std::span<const std::byte> bytes) {
  ByteReader reader(bytes);
  const std::span<const std::byte> magic = TRY(reader.take_bytes(shard_magic.size(), "magic"));
  if (!TokenShard::is_shard(magic)) {
    return Error::of(ErrorCode::corrupt, "magic: expected that of a token shard, found ",
                     Quoted{{reinterpret_cast<const char*>(magic.data()), magic.size()}});
  }
  const auto version = TRY(reader.take<std::uint32_t>("version"));
  if (version != shard_version) {
    return Error::of(ErrorCode::unsupported, "version: expected ", shard_version, ", found ", version);
  }
  const auto width = TRY(reader.take<std::uint32_t>("width"));
  if (width != 2 && width != 4) return Error::of(ErrorCode::corrupt, "width: expected 2 or 4, found ", width);
  ShardHeader header{.origin = {}, .width = static_cast<int>(width), .count = 0};
  header.origin.vocabulary = TRY(reader.take<std::uint32_t>("vocabulary"));
  if (header.origin.vocabulary == 0 || header.origin.vocabulary > largest_vocabulary) {
    return Error::of(ErrorCode::corrupt, "vocabulary: expected 1 to ", largest_vocabulary, ", found ",
                     header.origin.vocabulary);
  }
  if (const auto zero = TRY(reader.take<std::uint32_t>("zero")); zero != 0) {
    return Error::of(ErrorCode::corrupt, "byte 20: expected zero, found ", zero);
  }
  header.origin.tokenizer_hash = TRY(reader.take<std::uint64_t>("tokenizer hash"));
  if (reader.remaining() < sizeof(std::uint64_t)) {
    return Error::of(ErrorCode::corrupt, "count: expected 8 bytes at the end, found ", reader.remaining());
  }
  const std::uint64_t id_bytes = reader.remaining() - sizeof(std::uint64_t);
  TRY(reader.take_bytes(id_bytes, "ids"));
  header.count = TRY(reader.take<std::uint64_t>("count"));
  // Divided, not multiplied: a count from a file may be anything.
  if (header.count == 0 || id_bytes % width != 0 || header.count != id_bytes / width) {
    return Error::of(ErrorCode::corrupt, "count: expected ", id_bytes, " bytes of ids at ", width,
                     " bytes each, found ", header.count, " ids; the file was cut off or changed");
  }
  return header;
}

template <class Stored>
Result<void> check_ids(const std::byte* bytes, std::uint64_t count, std::uint32_t vocabulary) {
  constexpr std::uint64_t block = 4096;
  for (std::uint64_t begin = 0; begin < count; begin += block) {
    // The largest of a block first, without a branch an id.
    const std::uint64_t end = std::min(begin + block, count);
    Stored largest = 0;
    for (std::uint64_t index = begin; index < end; ++index) {
      Stored id;
      std::memcpy(&id, bytes + index * sizeof(Stored), sizeof(Stored));
      largest = std::max(largest, id);
    }
    if (largest >= vocabulary) {
      return Error::of(ErrorCode::corrupt, "ids: expected all below the vocabulary's ", vocabulary, ", found ",
                       std::uint32_t{largest}, " between ", begin, " and ", end);
    }
  }
  return {};
}

template <class Stored>
void copy_ids(const std::byte* bytes, std::span<TokenId> ids) {
  for (std::size_t index = 0; index < ids.size(); ++index) {
    Stored id;
    std::memcpy(&id, bytes + index * sizeof(Stored), sizeof(Stored));
    ids[index] = static_cast<TokenId>(id);
  }
}

template <class Number>
void append_number(std::vector<std::byte>& bytes, Number number) {
  const auto added = std::as_bytes(std::span(&number, 1));
  bytes.insert(bytes.end(), added.begin(), added.end());
}

}  // namespace

TokenOrigin origin_of(const Tokenizer& tokenizer) {
  return {static_cast<std::uint32_t>(tokenizer.vocabulary_size()), tokenizer_hash(tokenizer.description())};
}

bool TokenShard::is_shard(std::span<const std::byte> bytes) {
  return bytes.size() >= shard_magic.size() && std::memcmp(bytes.data(), shard_magic.data(), shard_magic.size()) == 0;
}

Result<TokenShard> TokenShard::open(const std::string& path) {
  MappedFile file = TRY(MappedFile::open(path));
  const Result<ShardHeader> header = read_shard_header(file.bytes());
  if (!header.ok()) return header.error().within("token shard ", Quoted{path});
  const auto& [origin, width, count] = header.value();
  const std::byte* ids = file.bytes().data() + shard_header_size;
  const Result<void> checked = width == 2 ? check_ids<std::uint16_t>(ids, count, origin.vocabulary)
                                          : check_ids<std::uint32_t>(ids, count, origin.vocabulary);
  if (!checked.ok()) return checked.error().within("token shard ", Quoted{path});
  return TokenShard(std::move(file), origin, width, count);
}

void TokenShard::copy(std::uint64_t begin, std::span<TokenId> ids) const {
  const std::byte* bytes = file_.bytes().data() + shard_header_size + begin * static_cast<std::uint64_t>(width_);
  width_ == 2 ? copy_ids<std::uint16_t>(bytes, ids) : copy_ids<std::uint32_t>(bytes, ids);
}

TokenShardWriter::TokenShardWriter(ReplacedFile file, const TokenOrigin& origin)
    : file_(std::move(file)), origin_(origin), width_(width_for(origin.vocabulary)) {}

Result<TokenShardWriter> TokenShardWriter::create(const std::string& path, const TokenOrigin& origin) {
  if (origin.vocabulary == 0 || origin.vocabulary > largest_vocabulary) {
    return Error::of(ErrorCode::invalid_argument, "vocabulary: expected 1 to ", largest_vocabulary, ", found ",
                     origin.vocabulary);
  }
  TokenShardWriter writer(TRY(ReplacedFile::create(path)), origin);
  std::vector<std::byte> header;
  for (std::uint8_t byte : shard_magic) append_number(header, byte);
  append_number(header, shard_version);
  append_number(header, static_cast<std::uint32_t>(writer.width_));
  append_number(header, origin.vocabulary);
  append_number(header, std::uint32_t{0});
  append_number(header, origin.tokenizer_hash);
  TRY(writer.file_.write(header));
  return writer;
}

Result<void> TokenShardWriter::append(std::span<const TokenId> ids) {
  std::vector<std::byte> bytes;
  bytes.reserve(ids.size() * static_cast<std::size_t>(width_));
  for (const TokenId id : ids) {
    if (id < 0 || static_cast<std::uint32_t>(id) >= origin_.vocabulary) {
      return Error::of(ErrorCode::out_of_range, "token shard, id ",
                       count_ + bytes.size() / static_cast<std::size_t>(width_), ": expected 0 to ",
                       origin_.vocabulary - 1, ", found ", id);
    }
    if (width_ == 2) {
      append_number(bytes, static_cast<std::uint16_t>(id));
    } else {
      append_number(bytes, static_cast<std::uint32_t>(id));
    }
  }
  TRY(file_.write(bytes));
  count_ += ids.size();
  return {};
}

Result<void> TokenShardWriter::commit() {
  if (count_ == 0) return Error::of(ErrorCode::invalid_argument, "token shard: expected ids, found none");
  TRY(file_.write(std::as_bytes(std::span(&count_, 1))));
  return file_.commit();
}

}  // namespace ingot
