#include "model/files/llama2c.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "model/files/gguf.h"
#include "model/files/gguf_writer.h"
#include "model/files/test_files.h"

namespace ingot {
namespace {

struct Sizes {
  std::int32_t dim = 4, hidden = 6, layers = 2, heads = 2, kv_heads = 1, vocabulary = 4, context = 3;
};

std::string model_with(const Sizes& sizes, std::int64_t floats) {
  FileBytes bytes;
  for (std::int32_t value :
       {sizes.dim, sizes.hidden, sizes.layers, sizes.heads, sizes.kv_heads, sizes.vocabulary, sizes.context}) {
    bytes.number(value);
  }
  for (std::int64_t index = 0; index < floats; ++index) bytes.number(static_cast<float>(index));
  return bytes.all();
}

// 4 x 4 embedding, per layer 4 + 16 + 8 + 8 + 16 + 4 + 24 + 24 + 24, then 4 and a 3 x 2 table.
constexpr std::int64_t sample_floats = 16 + 2 * 128 + 4 + 6;

std::string vocabulary_of(const std::vector<std::string>& tokens, std::int32_t longest = 27) {
  FileBytes bytes;
  bytes.number(longest);
  for (const std::string& token : tokens) {
    bytes.number(0.5f).number(static_cast<std::int32_t>(token.size())).raw(token);
  }
  return bytes.all();
}
const std::vector<std::string> sample_tokens = {"?", "\n<s>\n", "\n</s>\n", " a b"};

void expect_error(const std::string& model, const std::string& vocabulary, std::string_view part) {
  const Result<Llama2cFile> file = Llama2cFile::parse(as_bytes(model), as_bytes(vocabulary));
  ASSERT_FALSE(file.ok()) << part;
  EXPECT_NE(file.error().text().find(part), std::string_view::npos) << file.error().text();
}

const StoredTensor& tensor(const Llama2cFile& file, std::string_view name) {
  return *std::ranges::find(file.tensors(), name, &StoredTensor::name);
}

TEST(Llama2c, PlacesEveryWeight) {
  const std::string model = model_with({}, sample_floats), vocabulary = vocabulary_of(sample_tokens);
  const Result<Llama2cFile> read = Llama2cFile::parse(as_bytes(model), as_bytes(vocabulary));
  ASSERT_TRUE(read.ok()) << read.error().text();
  const Llama2cFile& file = read.value();
  EXPECT_EQ(file.tensors().size(), 2u + 9u * 2u);
  const auto first = [&](std::string_view name) { return tensor(file, name).view.as<const float>().data()[0]; };
  EXPECT_EQ(first("token_embd.weight"), 0);
  EXPECT_EQ(first("blk.0.attn_norm.weight"), 16);
  EXPECT_EQ(first("blk.1.attn_norm.weight"), 20);
  EXPECT_EQ(first("blk.0.attn_q.weight"), 24);
  EXPECT_EQ(first("blk.0.attn_k.weight"), 56);
  EXPECT_EQ(first("blk.1.attn_k.weight"), 64);
  EXPECT_EQ(first("blk.0.attn_v.weight"), 72);
  EXPECT_EQ(first("blk.0.attn_output.weight"), 88);
  EXPECT_EQ(first("blk.0.ffn_norm.weight"), 120);
  EXPECT_EQ(first("blk.0.ffn_gate.weight"), 128);
  EXPECT_EQ(first("blk.0.ffn_down.weight"), 176);
  EXPECT_EQ(first("blk.0.ffn_up.weight"), 224);
  EXPECT_EQ(first("output_norm.weight"), 272);
  EXPECT_EQ(tensor(file, "blk.0.attn_k.weight").view.shape(), (Shape{2, 4}));
  EXPECT_EQ(tensor(file, "blk.0.ffn_down.weight").view.shape(), (Shape{4, 6}));
  EXPECT_EQ(file.metadata().integer("llama.rope.dimension_count").value(), 2);
}

TEST(Llama2c, ANegativeVocabularyMeansAClassifierOfItsOwn) {
  Sizes sizes;
  sizes.vocabulary = -4;
  const std::string model = model_with(sizes, sample_floats + 16), vocabulary = vocabulary_of(sample_tokens);
  const Llama2cFile file = Llama2cFile::parse(as_bytes(model), as_bytes(vocabulary)).value();
  EXPECT_EQ(tensor(file, "output.weight").view.as<const float>()(0, 0), 282);
  EXPECT_EQ(file.metadata().integer("llama.vocab_size").value(), 4);
}

TEST(Llama2c, TokensFollowGgufsConventions) {
  const std::string model = model_with({.vocabulary = 6}, sample_floats + 8);
  const std::string vocabulary = vocabulary_of({"?", "\n<s>\n", "\n</s>\n", "<0x0A>", " a b", ""});
  const Result<Llama2cFile> file = Llama2cFile::parse(as_bytes(model), as_bytes(vocabulary));
  ASSERT_TRUE(file.ok()) << file.error().text();
  const TextList tokens = file.value().metadata().text_list("tokenizer.ggml.tokens").value();
  const ScalarList types = file.value().metadata().integer_list("tokenizer.ggml.token_type").value();
  const std::pair<std::string_view, int> expected[] = {{"<unk>", 2},          {"<s>", 3}, {"</s>", 3}, {"<0x0A>", 6},
                                                       {"\u2581a\u2581b", 1}, {"", 3}};
  for (std::size_t id = 0; id < 6; ++id) {
    EXPECT_EQ(tokens[id], expected[id].first);
    EXPECT_EQ(types.integer(id), expected[id].second);
  }
}

TEST(Llama2c, HeaderFieldsAreChecked) {
  const std::string vocabulary = vocabulary_of(sample_tokens);
  const auto check = [&](const Sizes& sizes, std::string_view part) {
    expect_error(model_with(sizes, sample_floats), vocabulary, part);
  };
  check({.dim = 0}, "dim: expected 1 to");
  check({.hidden = -1}, "hidden_dim: expected 1 to");
  check({.layers = 1 << 30}, "n_layers: expected 1 to");
  check({.heads = 3}, "n_heads: expected to divide dim 4");
  check({.heads = 4, .kv_heads = 1}, "into even parts");
  check({.kv_heads = 3}, "n_kv_heads: expected a divisor of n_heads 2");
  check({.vocabulary = 0}, "vocab_size: expected 3");
  check({.vocabulary = std::numeric_limits<std::int32_t>::min()}, "vocab_size: expected 3");
  check({.context = 0}, "seq_len: expected 1 to");
  check({.layers = 3}, "weights: expected");
  check({.dim = 1 << 24, .hidden = 1 << 24, .layers = 1 << 24, .heads = 1}, "weights: expected a product that fits");
  expect_error(model_with({}, sample_floats + 1), vocabulary, "weights: expected 1128 bytes");
  expect_error("abc", vocabulary, "bytes of dim");
}

TEST(Llama2c, VocabularyFieldsAreChecked) {
  const std::string model = model_with({}, sample_floats);
  expect_error(model, "", "max_token_length");
  expect_error(model, vocabulary_of({"a", "b"}), "token score");
  expect_error(model, vocabulary_of(sample_tokens, 2), "token 1: expected a length from 0 to max_token_length 2");
  expect_error(model, vocabulary_of(sample_tokens) + "x", "found 1 bytes more");
  expect_error(model, FileBytes().number(9).number(0.5f).number(-1).all(), "token 0: expected a length");
}

TEST(Llama2c, TheOutsideStoryModelBecomesGguf) {
  const std::optional<std::string> outside = outside_data("stories260K");
  if (!outside) GTEST_SKIP() << "SKIPPED: INGOT_OUTSIDE_DATA has no stories260K";
  const Result<Llama2cFile> read = Llama2cFile::open(*outside + "/stories260K.bin", *outside + "/tok512.bin");
  ASSERT_TRUE(read.ok()) << read.error().text();
  const Llama2cFile& file = read.value();
  EXPECT_EQ(file.metadata().integer("llama.embedding_length").value(), 64);
  EXPECT_EQ(file.metadata().integer("llama.block_count").value(), 5);
  EXPECT_EQ(file.metadata().text_list("tokenizer.ggml.tokens").value().size(), 512u);
  const ScalarList types = file.metadata().integer_list("tokenizer.ggml.token_type").value();
  int byte_tokens = 0;
  for (std::size_t id = 0; id < types.size(); ++id) byte_tokens += types.integer(id) == 6 ? 1 : 0;
  EXPECT_EQ(byte_tokens, 256);

  const TemporaryFolder folder;
  std::vector<TensorToWrite> tensors;
  for (const StoredTensor& stored : file.tensors()) tensors.push_back(tensor_to_write(stored));
  ASSERT_TRUE(write_gguf(folder.file("stories.gguf"), file.metadata(), tensors).ok());
  const GgufFile gguf = GgufFile::open(folder.file("stories.gguf")).value();
  EXPECT_EQ(gguf.metadata(), file.metadata());
  int equal = 0;
  for (std::size_t index = 0; index < file.tensors().size(); ++index) {
    const std::span<const std::byte> bytes = gguf.records()[index].bytes;
    equal += std::memcmp(bytes.data(), file.tensors()[index].view.data(), bytes.size()) == 0 ? 1 : 0;
  }
  EXPECT_EQ(equal, 2 + 9 * 5);
  std::printf("stories260K: %d of %zu tensors equal after a round trip through GGUF\n", equal, file.tensors().size());
}

}  // namespace
}  // namespace ingot
