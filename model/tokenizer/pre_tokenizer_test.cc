#include "model/tokenizer/pre_tokenizer.h"

#include <gtest/gtest.h>

#include "model/tokenizer/added_tokens.h"
#include "model/tokenizer/normalizer.h"

namespace ingot {
namespace {

using Texts = std::vector<std::string>;

Texts pieces(std::vector<PreTokenizerStep> steps, std::string text, bool is_first = true) {
  const Result<PreTokenizer> splitter = PreTokenizer::create(steps);
  EXPECT_TRUE(splitter.ok()) << splitter.error().text();
  const PreTokenizedText split = splitter.value().run(std::move(text), is_first);
  Texts result;
  for (const TextRange& piece : split.pieces) result.emplace_back(split.text.slice(piece.begin, piece.end));
  return result;
}

PreTokenizerStep split(std::string pattern, SplitBehavior behavior, bool is_inverted = false) {
  return {.pattern = std::move(pattern), .behavior = behavior, .is_inverted = is_inverted};
}

TEST(PreTokenizer, FiveWaysToSplit) {
  using enum SplitBehavior;
  EXPECT_EQ(pieces({split("-", isolated)}, "a--b"), (Texts{"a", "-", "-", "b"}));
  EXPECT_EQ(pieces({split("-", removed)}, "a--b"), (Texts{"a", "b"}));
  EXPECT_EQ(pieces({split("-", contiguous)}, "a--b"), (Texts{"a", "--", "b"}));
  EXPECT_EQ(pieces({split("-", merged_with_previous)}, "a--b"), (Texts{"a-", "-", "b"}));
  EXPECT_EQ(pieces({split("-", merged_with_next)}, "a--b"), (Texts{"a", "-", "-b"}));
  EXPECT_EQ(pieces({split("[a-z]+", removed, true)}, "a--b"), (Texts{"a", "b"}));
}

TEST(PreTokenizer, LaterStepsSeeOnlyOnePiece) {
  using enum SplitBehavior;
  EXPECT_EQ(pieces({split(R"(\n)", isolated), split(R"(\s+$)", isolated)}, "a  \nb"), (Texts{"a", "  ", "\n", "b"}));
}

TEST(PreTokenizer, DigitsInThreesFromTheRight) {
  const std::string groups = R"(\d{1,3}(?=(?:\d{3})*\b))";
  EXPECT_EQ(pieces({split(groups, SplitBehavior::isolated)}, "1234567 12a"), (Texts{"1", "234", "567", " 12a"}));
  const std::string places = R"((?=(\d{3})+(?!\d)))";
  EXPECT_EQ(pieces({split(places, SplitBehavior::isolated)}, "x12345y"), (Texts{"x12", "345y"}));
}

TEST(PreTokenizer, MetaspaceAndPrefixSpace) {
  const auto metaspace = [](PrependScheme scheme, bool splits) {
    return PreTokenizerStep{
        .kind = PreTokenizerStep::Kind::metaspace, .pattern = "▁", .scheme = scheme, .splits = splits};
  };
  EXPECT_EQ(pieces({metaspace(PrependScheme::always, true)}, "a  b"), (Texts{"▁a", "▁", "▁b"}));
  EXPECT_EQ(pieces({metaspace(PrependScheme::always, true)}, " a"), (Texts{"▁a"}));
  EXPECT_EQ(pieces({metaspace(PrependScheme::never, false)}, "a b"), (Texts{"a▁b"}));
  EXPECT_EQ(pieces({metaspace(PrependScheme::first, false)}, "a", false), (Texts{"a"}));
  EXPECT_EQ(pieces({metaspace(PrependScheme::first, false)}, "a", true), (Texts{"▁a"}));
  EXPECT_EQ(pieces({{.kind = PreTokenizerStep::Kind::prefix_space}}, "a"), (Texts{" a"}));
  EXPECT_EQ(pieces({}, ""), Texts{});
}

std::string normalized_by(NormalizerStep step, std::string text) {
  const NormalizerStep steps[] = {std::move(step)};
  const Result<Normalizer> normalizer = Normalizer::create(steps);
  EXPECT_TRUE(normalizer.ok()) << normalizer.error().text();
  return normalizer.value().run(std::move(text));
}

TEST(Normalizer, Steps) {
  using Kind = NormalizerStep::Kind;
  EXPECT_EQ(normalized_by({.kind = Kind::unicode_form, .form = NormalizationForm::nfkc}, "\xef\xac\x80"), "ff");
  EXPECT_EQ(normalized_by({.kind = Kind::lowercase}, "ÀB\xc4\xb0"), "àbi\xcc\x87");
  EXPECT_EQ(normalized_by({.kind = Kind::strip_accents}, "e\xcc\x81x"), "ex");
  EXPECT_EQ(normalized_by({.kind = Kind::prepend, .content = "▁"}, "a"), "▁a");
  EXPECT_EQ(normalized_by({.kind = Kind::prepend, .content = "▁"}, ""), "");
  EXPECT_EQ(normalized_by({.kind = Kind::replace, .pattern = "aa", .content = "b"}, "aaaxa"), "baxa");
  EXPECT_EQ(normalized_by({.kind = Kind::replace_pattern, .pattern = " {2,}", .content = " "}, "a   b c"), "a b c");
  EXPECT_EQ(normalized_by({.kind = Kind::strip, .is_left = true}, " \u3000a "), "a ");
  EXPECT_EQ(normalized_by({.kind = Kind::nmt},
                          "a\x01\xe2\x80\x8b"
                          "b"),
            "a b");
  EXPECT_EQ(normalized_by({.kind = Kind::sentence_piece_spaces, .is_left = true, .is_right = true}, "  a  b "), "▁a▁b");
  EXPECT_EQ(normalized_by({.kind = Kind::sentence_piece_spaces, .is_right = true}, " a  b "), "a▁b");
  EXPECT_EQ(normalized_by({.kind = Kind::sentence_piece_spaces, .is_left = true}, " a"), "▁▁a");
  EXPECT_EQ(
      normalized_by(
          {.kind = Kind::bert, .cleans = true, .isolates_chinese = true, .strips_accents = true, .lowercases = true},
          "Caf\xc3\x89\t我\x01!\xc2\x85"),
      "cafe  我 !");
}

TEST(Normalizer, ACharacterMapIsCheckedAndApplied) {
  using Kind = NormalizerStep::Kind;
  // Units: the root's children begin at 1 ^ label; 'a' (0x61) has a value, which lies at its own base.
  std::vector<std::uint32_t> entries(256);
  entries[0] = 1u << 10;                           // base 1
  entries[1 ^ 'a'] = 'a' | 1u << 8 | 0x80u << 10;  // label, has a value, base 0x80
  entries[(1 ^ 'a') ^ 0x80] = 1u << 31 | 2;        // the replacement at offset 2
  std::string blob;
  const auto append = [&](std::uint32_t word) {
    for (int shift = 0; shift < 32; shift += 8) blob += static_cast<char>(word >> shift & 0xff);
  };
  append(static_cast<std::uint32_t>(entries.size() * 4));
  for (std::uint32_t entry : entries) append(entry);
  blob += std::string("x\0yz\0", 5);
  EXPECT_EQ(normalized_by({.kind = Kind::character_map, .content = blob}, "bab\xff"), "byzb\xef\xbf\xbd");

  for (std::string wrong : {std::string(), std::string("\x04\0\0\0", 4), std::string("\xff\xff\xff\xff\0\0\0\0", 8),
                            blob.substr(0, blob.size() - 1)}) {
    const NormalizerStep steps[] = {{.kind = Kind::character_map, .content = wrong}};
    EXPECT_FALSE(Normalizer::create(steps).ok());
  }
}

Texts parts(const std::vector<AddedToken>& tokens, std::string_view text, bool finds_special = true) {
  const Result<AddedTokens> added = AddedTokens::create(tokens);
  EXPECT_TRUE(added.ok()) << added.error().text();
  Texts result;
  for (const AddedTokens::Part& part : added.value().split(text, {.is_on = finds_special})) {
    result.push_back(part.id == no_token ? std::string(part.text) : "#" + std::to_string(part.id));
  }
  return result;
}

TEST(AddedTokens, LeftmostLongest) {
  const std::vector<AddedToken> tokens = {
      {.id = 1, .text = "<a>"}, {.id = 2, .text = "<a><b>"}, {.id = 3, .text = "aa"}};
  EXPECT_EQ(parts(tokens, "x<a>y<a><b>"), (Texts{"x", "#1", "y", "#2"}));
  EXPECT_EQ(parts(tokens, "aaa"), (Texts{"#3", "a"}));
  EXPECT_EQ(parts(tokens, ""), Texts{});
}

TEST(AddedTokens, SpecialOnesOnlyWhereAskedFor) {
  const std::vector<AddedToken> tokens = {{.id = 1, .text = "<s>"}, {.id = 2, .text = "<u>", .is_special = false}};
  EXPECT_EQ(parts(tokens, "<s><u>", false), (Texts{"<s>", "#2"}));
}

TEST(AddedTokens, StripsAndStandsAlone) {
  const std::vector<AddedToken> tokens = {{.id = 1, .text = "L", .strips_left = true},
                                          {.id = 2, .text = "R", .strips_right = true},
                                          {.id = 3, .text = "W", .is_single_word = true},
                                          {.id = 4, .text = "\n\n"}};
  EXPECT_EQ(parts(tokens, "a \u3000L b"), (Texts{"a", "#1", " b"}));
  EXPECT_EQ(parts(tokens, "a R \tb"), (Texts{"a ", "#2", "b"}));
  EXPECT_EQ(parts(tokens, "W aW Wя"), (Texts{"#3", " aW Wя"}));
  EXPECT_EQ(parts(tokens, "R\n\n x"), (Texts{"#2", "#4", " x"})) << "stripped space may be a token of its own";
}

}  // namespace
}  // namespace ingot
