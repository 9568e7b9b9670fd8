#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"
#include "model/files/test_files.h"
#include "model/tokenizer/gguf_pre_tokenizer.h"
#include "model/tokenizer/pre_tokenizer.h"
#include "model/tokenizer/test_vocabularies.h"
#include "train/data/encode_text.h"
#include "train/data/text_file.h"
#include "train/data/text_pieces.h"

namespace ingot {
namespace {

std::vector<TextPiece> pieces_of(std::string_view text, std::string_view separator,
                                 std::size_t limit = TextPieces::usual_limit) {
  std::vector<TextPiece> result;
  TextPieces pieces(text, separator, limit);
  while (const std::optional<TextPiece> piece = pieces.next()) result.push_back(*piece);
  EXPECT_EQ(pieces.position(), text.size());
  return result;
}

std::vector<std::string_view> documents_of(std::string_view text) {
  std::vector<std::string_view> documents;
  for (const TextPiece& piece : pieces_of(text, "<|end|>")) {
    EXPECT_TRUE(piece.ends_document);
    documents.push_back(piece.text);
  }
  return documents;
}

TEST(TextPiecesTest, SeparatorsAndTheTextsEndEndDocuments) {
  using Documents = std::vector<std::string_view>;
  EXPECT_EQ(documents_of(""), Documents{});
  EXPECT_EQ(documents_of("one"), Documents{"one"});
  EXPECT_EQ(documents_of("one<|end|>"), Documents{"one"});
  EXPECT_EQ(documents_of("one<|end|>\ntwo"), (Documents{"one", "\ntwo"}));
  EXPECT_EQ(documents_of("<|end|><|end|>x<|end"), (Documents{"", "", "x<|end"}));
  EXPECT_EQ(pieces_of("one<|end|>two", "").size(), 1u);
}

// Lines, words, spaces, characters of one to four bytes, separators, in any order.
std::string random_text(RandomNumbers& numbers, int parts) {
  constexpr std::string_view choices[] = {"word",         "the",  " ",     "  ", "\n", "\n\n", "\r\n", ".",  ", ",
                                          "12",           "3456", "é",     "我", "\t", "/",    "'s",   "🙂", "A",
                                          "\xe3\x80\x80", "!\n",  "Ünd\n", "_"};
  std::string text;
  for (int part = 0; part < parts; ++part) text += choices[numbers.below(std::size(choices))];
  return text;
}

TEST(TextPiecesTest, PiecesAreShortAndKeepEveryCharacter) {
  RandomNumbers numbers(1);
  for (int round = 0; round < 200; ++round) {
    std::string text = random_text(numbers, 60);
    if (numbers.below(2) == 0) text += "<|end|>" + random_text(numbers, 20);
    std::string joined;
    for (const TextPiece& piece : pieces_of(text, "<|end|>", 16)) {
      EXPECT_LE(piece.text.size(), 16u);
      EXPECT_EQ(find_invalid_utf8(piece.text), piece.text.size()) << piece.text;
      joined += piece.text;
      if (piece.ends_document && joined.size() < text.size()) joined += "<|end|>";
    }
    EXPECT_EQ(joined, text);
  }
}

TEST(TextPiecesTest, SeparatorsAreNeverCut) {
  for (std::size_t place = 0; place < 60; ++place) {
    const std::string text = std::string(place, 'x') + "<|end|>y";
    std::string documents;
    for (const TextPiece& piece : pieces_of(text, "<|end|>", 16)) {
      documents.append(piece.text).append(piece.ends_document ? "|" : "");
    }
    EXPECT_EQ(documents, std::string(place, 'x') + "|y|");
  }
}

TEST(TextPiecesTest, BytesThatAreNoTextAreCutToo) {
  const std::string text(100, '\x80');
  std::size_t total = 0;
  for (const TextPiece& piece : pieces_of(text, "<|end|>", 8)) {
    EXPECT_FALSE(piece.text.empty());
    total += piece.text.size();
  }
  EXPECT_EQ(total, text.size());
}

std::vector<std::string> words_of(const PreTokenizer& splitter, std::string_view text) {
  std::vector<std::string> words;
  const PreTokenizedText split = splitter.run(std::string(text), false);
  for (const TextRange& range : split.pieces) words.emplace_back(split.text.slice(range.begin, range.end));
  return words;
}

TEST(TextPiecesTest, CutsChangeNoPreTokenOfAnyKnownPattern) {
  RandomNumbers numbers(2);
  std::string text;
  // A line that may be cut behind comes every few words, as in any text.
  for (int line = 0; line < 400; ++line)
    text += random_text(numbers, 12) + (line % 2 == 0 ? "end.\n" : "end\n") + "Then";
  for (const GgufPreTokenizer& known : gguf_pre_tokenizers()) {
    if (known.names[0] == "superbpe") continue;  // its pieces run over lines
    std::vector<PreTokenizerStep> steps;
    for (std::string_view pattern : known.patterns) steps.push_back({.pattern = std::string(pattern)});
    const PreTokenizer splitter = std::move(PreTokenizer::create(steps)).value();
    std::vector<std::string> words;
    const std::vector<TextPiece> pieces = pieces_of(text, "", 400);
    EXPECT_GT(pieces.size(), 30u);
    for (const TextPiece& piece : pieces) {
      for (std::string& word : words_of(splitter, piece.text)) words.push_back(std::move(word));
    }
    EXPECT_EQ(words, words_of(splitter, text)) << known.names[0];
  }
}

TEST(TextFileTest, TheFirstByteThatIsNoTextIsNamed) {
  const TemporaryFolder folder;
  folder.write("good", "eight bytes and é🙂");
  folder.write("bad", "eight bytes and é\xc3(");
  folder.write("empty", "");
  Result<TextFile> good = TextFile::open(folder.file("good"));
  ASSERT_TRUE(good.ok()) << good.error().text();
  EXPECT_EQ(good.value().text(), "eight bytes and é🙂");
  const Result<TextFile> bad = TextFile::open(folder.file("bad"));
  ASSERT_FALSE(bad.ok());
  EXPECT_NE(bad.error().text().find("bad'"), std::string_view::npos) << bad.error().text();
  EXPECT_NE(bad.error().text().find("found the byte '\\xc3' at offset 18"), std::string_view::npos)
      << bad.error().text();
  EXPECT_FALSE(TextFile::open(folder.file("empty")).ok());
  EXPECT_FALSE(TextFile::open(folder.file("none")).ok());
}

TEST(TextFileTest, EveryPlaceOfAWrongByteIsFound) {
  for (std::size_t place = 0; place < 40; ++place) {
    std::string text(40, 'x');
    text[place] = '\xff';
    EXPECT_EQ(find_invalid_utf8(text), place);
  }
  EXPECT_EQ(find_invalid_utf8("\xc3"), 0u);
  EXPECT_EQ(find_invalid_utf8("abcdefg\xe6\x88"), 7u);
}

Tokenizer separating_tokenizer(std::string_view separator) {
  TokenizerDescription description = byte_level_example();
  description.eos = add_special(description, separator);
  add_special(description, "<|other|>");
  return std::move(Tokenizer::create(std::move(description))).value();
}

std::vector<TokenId> encoded(std::string_view text, const Tokenizer& tokenizer, TokenId separator) {
  std::vector<TokenId> ids;
  const Result<void> done = encode_text(text, tokenizer, separator, [&](std::span<const TokenId> more) -> Result<void> {
    ids.insert(ids.end(), more.begin(), more.end());
    return {};
  });
  EXPECT_TRUE(done.ok());
  return ids;
}

TEST(EncodeTextTest, EveryDocumentIsFollowedByTheSeparator) {
  const Tokenizer tokenizer = separating_tokenizer("<|end|>");
  const TokenId end = document_separator(tokenizer);
  EXPECT_EQ(end, tokenizer.find("<|end|>"));
  const DecodeOptions keeps{.keeps_special_tokens = true};
  const std::string_view text = "hello world<|end|>\nhello<|other|>!";
  const std::vector<TokenId> ids = encoded(text, tokenizer, end);
  EXPECT_EQ(tokenizer.decode(ids, keeps), std::string(text) + "<|end|>");
  EXPECT_EQ(std::count(ids.begin(), ids.end(), end), 2);
  EXPECT_EQ(std::count(ids.begin(), ids.end(), tokenizer.find("<|other|>")), 1);
  EXPECT_EQ(encoded("hello<|end|>", tokenizer, end), encoded("hello", tokenizer, end));
  EXPECT_EQ(tokenizer.decode(encoded("hello", tokenizer, no_token), keeps), "hello");
}

TEST(EncodeTextTest, WithoutTheUsualSeparatorTheEndOfTextSeparates) {
  const Tokenizer tokenizer = separating_tokenizer("<eos>");
  EXPECT_EQ(document_separator(tokenizer), tokenizer.eos());
  const Tokenizer without = std::move(Tokenizer::create(byte_level_example())).value();
  EXPECT_EQ(document_separator(without), no_token);
}

TEST(EncodeTextTest, ALongDocumentBecomesTheTokensOfTheWhole) {
  const Tokenizer tokenizer = separating_tokenizer("<|end|>");
  std::string text;
  while (text.size() < TextPieces::usual_limit * 5 / 4) text += "hello world, hello\nhow are you\n\n";
  std::vector<TokenId> expected = tokenizer.encode(text, {.adds_special_tokens = false}).value();
  EXPECT_EQ(encoded(text, tokenizer, no_token), expected);
  expected.push_back(tokenizer.eos());
  EXPECT_EQ(encoded(text, tokenizer, tokenizer.eos()), expected);
}

}  // namespace
}  // namespace ingot
