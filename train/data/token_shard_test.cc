#include "train/data/token_shard.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "base/random.h"
#include "model/files/test_files.h"
#include "model/tokenizer/test_vocabularies.h"
#include "train/data/token_stream.h"
#include "train/data/tokenizer_hash.h"

namespace ingot {
namespace {

std::vector<TokenId> random_ids(std::size_t count, std::uint32_t vocabulary, std::uint64_t seed) {
  RandomNumbers numbers(seed);
  std::vector<TokenId> ids(count);
  for (TokenId& id : ids) id = static_cast<TokenId>(numbers.below(vocabulary));
  ids.back() = static_cast<TokenId>(vocabulary - 1);
  return ids;
}

void write_shard(const std::string& path, const TokenOrigin& origin, std::span<const TokenId> ids) {
  Result<TokenShardWriter> writer = TokenShardWriter::create(path, origin);
  ASSERT_TRUE(writer.ok()) << writer.error().text();
  const std::size_t half = ids.size() / 2;
  ASSERT_TRUE(writer.value().append(ids.first(half)).ok());
  ASSERT_TRUE(writer.value().append(ids.subspan(half)).ok());
  ASSERT_TRUE(writer.value().commit().ok());
}

std::string bytes_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(TokenShardTest, ReadsBackWhatWasWritten) {
  const TemporaryFolder folder;
  for (const std::uint32_t vocabulary : {1u, 300u, 65536u, 65537u, 1u << 28}) {
    const std::vector<TokenId> ids = random_ids(5000, vocabulary, vocabulary);
    const TokenOrigin origin{vocabulary, 0x0123456789abcdefu};
    write_shard(folder.file("shard"), origin, ids);
    const Result<TokenShard> shard = TokenShard::open(folder.file("shard"));
    ASSERT_TRUE(shard.ok()) << shard.error().text();
    EXPECT_EQ(shard.value().origin(), origin);
    EXPECT_EQ(shard.value().id_width(), vocabulary <= 65536 ? 2 : 4);
    ASSERT_EQ(shard.value().size(), ids.size());
    std::vector<TokenId> read(ids.size());
    shard.value().copy(0, read);
    EXPECT_EQ(read, ids);
    std::vector<TokenId> some(7);
    shard.value().copy(4993, some);
    EXPECT_TRUE(std::equal(some.begin(), some.end(), ids.end() - 7));
  }
  EXPECT_EQ(folder.file_count(), 1u);
}

TEST(TokenShardTest, TheFormatIsWhatTheHeaderSays) {
  const TemporaryFolder folder;
  write_shard(folder.file("shard"), {300, 7}, std::vector<TokenId>{1, 258});
  FileBytes expected;
  expected.raw("\x89INGTOK\n").number(std::uint32_t{1}).number(std::uint32_t{2}).number(std::uint32_t{300});
  expected.number(std::uint32_t{0}).number(std::uint64_t{7});
  expected.raw(std::string_view("\x01\x00\x02\x01", 4)).number(std::uint64_t{2});
  EXPECT_EQ(bytes_of_file(folder.file("shard")), expected.all());
}

TEST(TokenShardTest, EveryFieldIsChecked) {
  const TemporaryFolder folder;
  write_shard(folder.file("shard"), {300, 7}, random_ids(100, 300, 1));
  const std::string whole = bytes_of_file(folder.file("shard"));
  const auto expect_refused = [&](std::string bytes, std::string_view named) {
    folder.write("changed", bytes);
    const Result<TokenShard> shard = TokenShard::open(folder.file("changed"));
    ASSERT_FALSE(shard.ok()) << named;
    EXPECT_NE(shard.error().text().find(named), std::string_view::npos) << shard.error().text();
  };
  const auto with = [&](std::size_t offset, std::string_view bytes) {
    return std::string(whole).replace(offset, bytes.size(), bytes);
  };
  expect_refused(with(1, "J"), "magic: expected");
  expect_refused(with(8, "\x02"), "version: expected 1, found 2");
  expect_refused(with(12, "\x03"), "width: expected 2 or 4, found 3");
  expect_refused(with(12, "\x04"), "count: expected");
  expect_refused(with(16, std::string_view("\0\0", 2)), "vocabulary: expected 1");
  expect_refused(with(19, "\x7f"), "vocabulary: expected 1");
  expect_refused(with(20, "\x01"), "byte 20: expected zero, found 1");
  expect_refused(with(32 + 50, "\x2c\x01"), "ids: expected all below the vocabulary's 300, found 300");
  expect_refused(with(whole.size() - 8, "\x65"), "count: expected");
  expect_refused(with(whole.size() - 8, "\xff\xff\xff\xff\xff\xff\xff\xff"), "count: expected");
  expect_refused(whole + "\n", "count: expected");
  for (std::size_t size = 1; size < whole.size(); ++size) {
    folder.write("changed", whole.substr(0, size));
    EXPECT_FALSE(TokenShard::open(folder.file("changed")).ok()) << size;
  }
}

TEST(TokenShardTest, NothingIsLeftOfWhatIsNotWhole) {
  const TemporaryFolder folder;
  {
    Result<TokenShardWriter> writer = TokenShardWriter::create(folder.file("shard"), {300, 7});
    ASSERT_TRUE(writer.ok());
    const Result<void> empty = writer.value().commit();
    ASSERT_FALSE(empty.ok());
    EXPECT_EQ(empty.error().text(), "token shard: expected ids, found none");
    ASSERT_TRUE(writer.value().append(std::vector<TokenId>{1, 2, 299}).ok());
    const Result<void> large = writer.value().append(std::vector<TokenId>{5, 300});
    ASSERT_FALSE(large.ok());
    EXPECT_EQ(large.error().text(), "token shard, id 4: expected 0 to 299, found 300");
    EXPECT_FALSE(writer.value().append(std::vector<TokenId>{-1}).ok());
    EXPECT_EQ(writer.value().size(), 3u);
  }
  EXPECT_EQ(folder.file_count(), 0u);
  EXPECT_FALSE(TokenShardWriter::create(folder.file("shard"), {0, 7}).ok());
}

Tokenizer ending_tokenizer() {
  TokenizerDescription description = byte_level_example();
  description.eos = add_special(description, "<|end|>");
  return std::move(Tokenizer::create(std::move(description))).value();
}

std::vector<TokenId> all_of(const TokenStream& stream) {
  std::vector<TokenId> ids(stream.size());
  stream.copy(0, ids);
  return ids;
}

TEST(TokenStreamTest, PartsAreOneRow) {
  TokenStream stream;
  std::vector<TokenId> expected;
  const TemporaryFolder folder;
  for (std::uint64_t part = 0; part < 6; ++part) {
    std::vector<TokenId> ids = random_ids(part % 3 * 4 + 1, 300, part);
    expected.insert(expected.end(), ids.begin(), ids.end());
    if (part % 2 == 0) {
      write_shard(folder.file("shard"), {300, 7}, ids);
      stream.append(std::move(TokenShard::open(folder.file("shard"))).value());
    } else {
      stream.append(std::move(ids));
    }
    stream.append(std::vector<TokenId>{});
  }
  ASSERT_EQ(stream.size(), expected.size());
  for (std::size_t begin = 0; begin < expected.size(); ++begin) {
    for (std::size_t end = begin; end <= expected.size(); ++end) {
      std::vector<TokenId> ids(end - begin);
      stream.copy(begin, ids);
      EXPECT_TRUE(std::equal(ids.begin(), ids.end(), expected.begin() + static_cast<std::ptrdiff_t>(begin)));
    }
  }
}

TEST(TokenStreamTest, TextAndItsShardAreTheSame) {
  const TemporaryFolder folder;
  const Tokenizer tokenizer = ending_tokenizer();
  folder.write("text", "hello world<|end|>hello");
  const Result<TokenStream> text = TokenStream::open(std::vector{folder.file("text")}, tokenizer);
  ASSERT_TRUE(text.ok()) << text.error().text();
  const std::vector<TokenId> ids = all_of(text.value());
  EXPECT_EQ(tokenizer.decode(ids, {.keeps_special_tokens = true}), "hello world<|end|>hello<|end|>");

  write_shard(folder.file("shard"), origin_of(tokenizer), ids);
  const Result<TokenStream> both = TokenStream::open(std::vector{folder.file("shard"), folder.file("text")}, tokenizer);
  ASSERT_TRUE(both.ok()) << both.error().text();
  std::vector<TokenId> twice = ids;
  twice.insert(twice.end(), ids.begin(), ids.end());
  EXPECT_EQ(all_of(both.value()), twice);
}

TEST(TokenStreamTest, WhatCannotBeReadIsNamed) {
  const TemporaryFolder folder;
  const Tokenizer tokenizer = ending_tokenizer();
  TokenOrigin other = origin_of(tokenizer);
  ++other.tokenizer_hash;
  write_shard(folder.file("other"), other, std::vector<TokenId>{1, 2, 3});
  folder.write("bytes", "ab\xff");
  folder.write("empty", "");
  const auto error_of = [&](std::string_view name) {
    const Result<TokenStream> stream = TokenStream::open(std::vector{folder.file(name)}, tokenizer);
    return std::string(stream.ok() ? "" : stream.error().text());
  };
  EXPECT_NE(error_of("other").find("expected ids of the tokenizer given"), std::string::npos) << error_of("other");
  EXPECT_NE(error_of("bytes").find("at offset 2"), std::string::npos) << error_of("bytes");
  EXPECT_NE(error_of("empty").find("found an empty file"), std::string::npos) << error_of("empty");
  EXPECT_FALSE(TokenStream::open({}, tokenizer).ok());
}

TEST(TokenizerHashTest, ChangesWithTokensAndMerges) {
  const TokenizerDescription description = byte_level_example();
  const std::uint64_t hash = tokenizer_hash(description);
  EXPECT_EQ(hash, tokenizer_hash(byte_level_example()));
  TokenizerDescription changed = byte_level_example();
  std::swap(changed.tokens[0], changed.tokens[1]);
  EXPECT_NE(hash, tokenizer_hash(changed));
  changed = byte_level_example();
  std::swap(changed.merges[0], changed.merges[1]);
  EXPECT_NE(hash, tokenizer_hash(changed));
  changed = byte_level_example();
  changed.merges[0] = {"", changed.merges[0].left + changed.merges[0].right};
  EXPECT_NE(hash, tokenizer_hash(changed));
}

}  // namespace
}  // namespace ingot
