// What files say, read into descriptions: GGUF's keys and Hugging Face's JSON.
#include "model/tokenizer/description.h"

#include <gtest/gtest.h>

#include "model/tokenizer/byte_alphabet.h"
#include "model/tokenizer/tokenizer.h"

namespace ingot {
namespace {

using Texts = std::vector<std::string>;

Metadata gguf(std::string_view model, const std::vector<std::string>& tokens,
              const std::vector<std::int32_t>& types = {}) {
  Metadata metadata;
  metadata.set_text("tokenizer.ggml.model", model);
  const std::vector<std::string_view> views(tokens.begin(), tokens.end());
  metadata.set_text_list("tokenizer.ggml.tokens", views);
  if (!types.empty()) metadata.set_scalar_list<std::int32_t>("tokenizer.ggml.token_type", types);
  return metadata;
}

Metadata byte_pair_gguf() {
  Metadata metadata = gguf("gpt2", {"a", "b", "ab", "<|end|>", "<u>"}, {1, 1, 1, 3, 4});
  metadata.set_text("tokenizer.ggml.pre", "gpt-2");
  const std::vector<std::string_view> merges{"a b"};
  metadata.set_text_list("tokenizer.ggml.merges", merges);
  return metadata;
}

Texts tokens_of(const Result<TokenizerDescription>& description, std::string_view text, EncodeOptions options = {}) {
  EXPECT_TRUE(description.ok()) << (description.ok() ? "" : std::string(description.error().text()));
  if (!description.ok()) return {};
  const Result<Tokenizer> tokenizer = Tokenizer::create(TokenizerDescription(description.value()));
  EXPECT_TRUE(tokenizer.ok()) << (tokenizer.ok() ? "" : std::string(tokenizer.error().text()));
  if (!tokenizer.ok()) return {};
  const Result<std::vector<TokenId>> ids = tokenizer.value().encode(text, options);
  EXPECT_TRUE(ids.ok()) << (ids.ok() ? "" : std::string(ids.error().text()));
  Texts result;
  if (!ids.ok()) return result;
  for (TokenId id : ids.value()) result.push_back(description.value().tokens[static_cast<std::size_t>(id)]);
  return result;
}

void expect_error(const Result<TokenizerDescription>& result, std::string_view part) {
  ASSERT_FALSE(result.ok()) << part;
  EXPECT_NE(result.error().text().find(part), std::string_view::npos) << result.error().text();
}

TEST(GgufDescription, BytePair) {
  Metadata metadata = byte_pair_gguf();
  metadata.set_integer("tokenizer.ggml.bos_token_id", 3);
  metadata.set_boolean("tokenizer.ggml.add_bos_token", true);
  const auto description = describe_gguf_tokenizer(metadata);
  EXPECT_EQ(tokens_of(description, "abb<|end|><u>", {.parses_special_tokens = true}),
            (Texts{"<|end|>", "ab", "b", "<|end|>", "<u>"}));
  EXPECT_EQ(description.value().end_of_generation, (std::vector<TokenId>{3}));
  EXPECT_EQ(tokens_of(description, "axb", {.adds_special_tokens = false}), (Texts{"a", "b"})) << "no token for x";
}

TEST(GgufDescription, SentencePieceUnigramAndWordPiece) {
  Metadata pieces = gguf("llama", {"<unk>", "<s>", "</s>", "▁a", "▁", "a"}, {2, 3, 3, 1, 1, 1});
  const std::vector<float> scores{0, 0, 0, -1, -2, -3};
  pieces.set_scalar_list<float>("tokenizer.ggml.scores", scores);
  EXPECT_EQ(tokens_of(describe_gguf_tokenizer(pieces), "a a"), (Texts{"<s>", "▁a", "▁a"}));
  pieces.set_boolean("tokenizer.ggml.add_space_prefix", false);
  EXPECT_EQ(tokens_of(describe_gguf_tokenizer(pieces), "a a"), (Texts{"<s>", "a", "▁a"}));

  Metadata unigram = gguf("t5", {"<pad>", "</s>", "<unk>", "▁a", "▁", "a"}, {3, 3, 2, 1, 1, 1});
  unigram.set_scalar_list<float>("tokenizer.ggml.scores", scores);
  unigram.set_boolean("tokenizer.ggml.add_space_prefix", true);
  unigram.set_boolean("tokenizer.ggml.remove_extra_whitespaces", true);
  EXPECT_EQ(tokens_of(describe_gguf_tokenizer(unigram), " a   a "), (Texts{"▁a", "▁a", "</s>"}));

  Metadata words = gguf("bert", {"[UNK]", "[CLS]", "[SEP]", "▁a", "b"}, {3, 3, 3, 1, 1});
  words.set_integer("tokenizer.ggml.bos_token_id", 1);
  words.set_integer("tokenizer.ggml.unknown_token_id", 0);
  words.set_integer("tokenizer.ggml.seperator_token_id", 2);
  EXPECT_EQ(tokens_of(describe_gguf_tokenizer(words), "Ab Áb b"),
            (Texts{"[CLS]", "▁a", "b", "▁a", "b", "[UNK]", "[SEP]"}));
}

TEST(GgufDescription, ErrorsNameTheKey) {
  expect_error(describe_gguf_tokenizer(Metadata()), "tokenizer.ggml.model");
  expect_error(describe_gguf_tokenizer(gguf("rwkv", {"a"})), "'rwkv'");
  expect_error(describe_gguf_tokenizer(gguf("gpt2", {"a"})), "tokenizer.ggml.pre");
  Metadata unknown = byte_pair_gguf();
  unknown.set_text("tokenizer.ggml.pre", "nobody-knows");
  expect_error(describe_gguf_tokenizer(unknown), "'nobody-knows'");
  expect_error(describe_gguf_tokenizer(gguf("llama", {"a", "b"}, {1})), "tokenizer.ggml.token_type: expected 2");
  expect_error(describe_gguf_tokenizer(gguf("llama", {"a"}, {77})), "tokenizer.ggml.token_type[0]");
  Metadata merge = byte_pair_gguf();
  const std::vector<std::string_view> merges{"ab"};
  merge.set_text_list("tokenizer.ggml.merges", merges);
  expect_error(describe_gguf_tokenizer(merge), "tokenizer.ggml.merges[0]");
  Metadata special = byte_pair_gguf();
  special.set_integer("tokenizer.ggml.eos_token_id", 99);
  expect_error(describe_gguf_tokenizer(special), "tokenizer.ggml.eos_token_id");
  Metadata bos = byte_pair_gguf();
  bos.set_boolean("tokenizer.ggml.add_bos_token", true);
  expect_error(describe_gguf_tokenizer(bos), "tokenizer.ggml.add_bos_token");
}

TEST(HuggingFaceDescription, ByteLevelWithTemplateAndAddedTokens) {
  const std::string json = R"({
    "added_tokens": [{"id": 4, "content": "<|end|>", "special": true, "normalized": false, "rstrip": true},
                     {"id": 5, "content": "<u>", "special": false, "normalized": false}],
    "normalizer": {"type": "NFC"},
    "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
      {"type": "Split", "pattern": {"Regex": "\\p{N}"}, "behavior": "Isolated", "invert": false},
      {"type": "ByteLevel", "add_prefix_space": false, "use_regex": false}]},
    "post_processor": {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<|end|>", "type_id": 0}},
      {"Sequence": {"id": "A", "type_id": 0}}], "special_tokens": {"<|end|>": {"id": "<|end|>", "ids": [4]}}},
    "decoder": {"type": "ByteLevel"},
    "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2, "1": 3}, "merges": ["a b"], "ignore_merges": true}})";
  const auto description =
      describe_hugging_face_tokenizer(json, R"({"eos_token": {"content": "<|end|>"}, "bos_token": null})");
  EXPECT_EQ(tokens_of(description, "ab11<|end|> <u>b", {.parses_special_tokens = true}),
            (Texts{"<|end|>", "ab", "1", "1", "<|end|>", "<u>", "b"}));
  EXPECT_EQ(description.value().eos, 4);
  EXPECT_EQ(description.value().bos, no_token);
}

TEST(HuggingFaceDescription, OtherModels) {
  const std::string unigram =
      R"({"pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"},
    "model": {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0.0], ["▁a", -1.5], ["b", -2]]}})";
  EXPECT_EQ(tokens_of(describe_hugging_face_tokenizer(unigram, ""), "ab a"), (Texts{"▁a", "b", "▁a"}));
  const std::string words = R"({"normalizer": {"type": "BertNormalizer"}, "pre_tokenizer": {"type": "BertPreTokenizer"},
    "model": {"type": "WordPiece", "unk_token": "[UNK]", "vocab": {"[UNK]": 0, "a": 1, "##b": 2}}})";
  EXPECT_EQ(tokens_of(describe_hugging_face_tokenizer(words, ""), "AB x"), (Texts{"a", "##b", "[UNK]"}));
  const std::string pieces = R"({"normalizer": {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "▁"},
    {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}]},
    "model": {"type": "BPE", "unk_token": "<unk>", "fuse_unk": true, "byte_fallback": true,
    "vocab": {"<unk>": 0, "▁": 1, "a": 2, "▁a": 3, "<0xC3>": 4, "<0xA9>": 5}, "merges": [["▁", "a"]]}})";
  EXPECT_EQ(tokens_of(describe_hugging_face_tokenizer(pieces, ""), "a éxy"),
            (Texts{"▁a", "▁", "<0xC3>", "<0xA9>", "<unk>"}));
}

TEST(HuggingFaceDescription, ErrorsNameWhatIsNotKnown) {
  const auto with = [](std::string_view section) {
    return describe_hugging_face_tokenizer(
        R"({"model": {"type": "BPE", "vocab": {"a": 0}, "merges": []}, )" + std::string(section) + "}", "");
  };
  EXPECT_TRUE(with(R"("version": "1.0")").ok());
  expect_error(describe_hugging_face_tokenizer("{", ""), "tokenizer.json");
  expect_error(describe_hugging_face_tokenizer("[]", ""), "tokenizer.json");
  expect_error(describe_hugging_face_tokenizer(R"({"model": {"type": "WordLevel", "vocab": {}}})", ""), "below");
  expect_error(describe_hugging_face_tokenizer(R"({"model": {"type": "WordLevel", "vocab": {"a": 0}}})", ""),
               "'WordLevel'");
  expect_error(
      describe_hugging_face_tokenizer(R"({"model": {"type": "BPE", "vocab": {"a": 999999999}, "merges": []}})", ""),
      "999999999");
  expect_error(with(R"("normalizer": {"type": "Upside"})"), "'Upside'");
  expect_error(with(R"("pre_tokenizer": {"type": "UnicodeScripts"})"), "'UnicodeScripts'");
  expect_error(with(R"("pre_tokenizer": {"type": "Split", "pattern": {"Regex": "a"}, "behavior": "Sideways"})"),
               "'Sideways'");
  expect_error(with(R"("decoder": {"type": "CTC"})"), "'CTC'");
  expect_error(with(R"("post_processor": {"type": "Odd"})"), "'Odd'");
  expect_error(with(R"("added_tokens": [{"id": -5, "content": "x"}])"), "-5");
  std::string deep = R"({"type": "NFC"})";
  for (int level = 0; level < 50; ++level) deep = R"({"type": "Sequence", "normalizers": [)" + deep + "]}";
  expect_error(with(R"("normalizer": )" + deep), "Sequence");
}

}  // namespace
}  // namespace ingot
