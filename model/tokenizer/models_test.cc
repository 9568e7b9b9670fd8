// Each way to segment text, on vocabularies small enough to follow by hand.
#include <gtest/gtest.h>

#include <chrono>

#include "model/tokenizer/test_vocabularies.h"
#include "model/tokenizer/tokenizer.h"

namespace ingot {
namespace {

using Texts = std::vector<std::string>;

Tokenizer create(TokenizerDescription description) {
  Result<Tokenizer> tokenizer = Tokenizer::create(std::move(description));
  EXPECT_TRUE(tokenizer.ok()) << (tokenizer.ok() ? "" : std::string(tokenizer.error().text()));
  return std::move(tokenizer).value();
}

std::vector<TokenId> encode(const Tokenizer& tokenizer, std::string_view text, EncodeOptions options = {}) {
  Result<std::vector<TokenId>> ids = tokenizer.encode(text, options);
  EXPECT_TRUE(ids.ok()) << (ids.ok() ? "" : std::string(ids.error().text()));
  return ids.ok() ? std::move(ids).value() : std::vector<TokenId>();
}

// As the vocabulary spells them.
Texts tokens(const Tokenizer& tokenizer, std::string_view text, EncodeOptions options = {}) {
  Texts result;
  for (TokenId id : encode(tokenizer, text, options)) {
    result.push_back(tokenizer.description().tokens[static_cast<std::size_t>(id)]);
  }
  return result;
}

TEST(BytePair, MergesInTheOrderOfRanks) {
  const Tokenizer tokenizer = create(byte_level_example());
  EXPECT_EQ(tokens(tokenizer, "hello world"), (Texts{"hello", "\xc4\xa0wor", "l", "d"}));
  EXPECT_EQ(tokens(tokenizer, "lll"), (Texts{"ll", "l"})) << "leftmost among equals";
  EXPECT_EQ(tokens(create(byte_level_vocabulary({{"b", "c"}, {"a", "b"}})), "abc"), (Texts{"a", "bc"}));
  EXPECT_EQ(tokens(create(byte_level_vocabulary({{"a", "b"}, {"b", "c"}})), "abc"), (Texts{"ab", "c"}));
  EXPECT_EQ(tokens(tokenizer, ""), Texts{});
}

TEST(BytePair, AnyBytesComeBack) {
  const Tokenizer tokenizer = create(byte_level_example());
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  for (const std::string& text : {all, std::string("hello \xff\xfe wor\0ld", 14), std::string("我 é \xe6\x88")}) {
    EXPECT_EQ(tokenizer.decode(encode(tokenizer, text)), text);
  }
}

TEST(BytePair, AMergeMayPassThroughWhatIsNoToken) {
  TokenizerDescription description = byte_level_vocabulary({{"a", "b"}, {"ab", "c"}});
  description.tokens[256] = "unreachable";  // was "ab"
  const Tokenizer tokenizer = create(std::move(description));
  EXPECT_EQ(tokens(tokenizer, "abc"), (Texts{"abc"}));
  EXPECT_EQ(tokens(tokenizer, "abx"), (Texts{"a", "b", "x"}));
}

TEST(BytePair, APieceThatIsATokenNeedsNoMerges) {
  TokenizerDescription description = byte_level_example();
  add_token(description, "xyz");
  EXPECT_EQ(tokens(create(description), "xyz"), (Texts{"x", "y", "z"}));
  description.ignores_merges = true;
  EXPECT_EQ(tokens(create(description), "xyz"), (Texts{"xyz"}));
}

TEST(BytePair, TextThatSpellsAControlTokenIsText) {
  TokenizerDescription description = byte_level_example();
  description.ignores_merges = true;
  description.pre_tokenizer.clear();
  const TokenId end = add_special(description, "<e>");
  const Tokenizer tokenizer = create(std::move(description));
  EXPECT_EQ(tokens(tokenizer, "<e>"), (Texts{"<", "e", ">"}));
  EXPECT_EQ(encode(tokenizer, "<e>", {.parses_special_tokens = true}), (std::vector<TokenId>{end}));
}

TEST(BytePair, OfCharactersWithBytesForTheRest) {
  TokenizerDescription description = sentence_piece_example();
  description.model = TokenizerModel::byte_pair;
  description.merges = {{"h", "e"}, {"▁", "t"}, {"▁t", "he"}};
  const Tokenizer tokenizer = create(description);
  EXPECT_EQ(tokens(tokenizer, "the é"), (Texts{"▁the", "▁", "<0xC3>", "<0xA9>"}));
  EXPECT_EQ(tokenizer.decode(encode(tokenizer, "the é\xff")), "the é\xff");
  description.has_byte_fallback = false;
  EXPECT_EQ(tokens(create(description), "éé"), (Texts{"▁", "<unk>", "<unk>"}));
  description.fuses_unknown = true;
  EXPECT_EQ(tokens(create(description), "ééaé"), (Texts{"▁", "<unk>", "a", "<unk>"}));
  description.unknown = no_token;
  EXPECT_FALSE(create(description).encode("é").ok()) << "nothing is lost silently";
}

TEST(SentencePiece, BestScoreFirst) {
  const Tokenizer tokenizer = create(sentence_piece_example());
  EXPECT_EQ(tokens(tokenizer, "the"), (Texts{"▁the"}));
  EXPECT_EQ(tokens(tokenizer, "abc"), (Texts{"▁a", "bc"})) << "▁a has a better score than ab";
  EXPECT_EQ(tokens(tokenizer, "babc"), (Texts{"▁", "b", "ab", "c"}));
  EXPECT_EQ(tokens(tokenizer, "bca"), (Texts{"▁", "b", "ca"})) << "ca is better than bc, which comes first";
  EXPECT_EQ(tokens(tokenizer, "é"), (Texts{"▁", "<0xC3>", "<0xA9>"}));
  EXPECT_EQ(tokens(tokenizer, ""), Texts{});
  EXPECT_EQ(tokenizer.decode(encode(tokenizer, "  the é\n\xff")), "  the é\n\xff");
  EXPECT_EQ(tokens(tokenizer, "<0x41>").size(), 7u) << "the text of a byte token is text";
}

TEST(Unigram, BestSumOfScores) {
  const Tokenizer tokenizer = create(unigram_example());
  EXPECT_EQ(tokens(tokenizer, "ab"), (Texts{"▁ab"}));
  EXPECT_EQ(tokens(tokenizer, "abb"), (Texts{"▁ab", "b"})) << "-8 beats -11";
  EXPECT_EQ(tokens(tokenizer, "xab"), (Texts{"▁", "<unk>", "ab"}));
  EXPECT_EQ(tokens(tokenizer, "axxxb"), (Texts{"▁", "a", "<unk>", "b"})) << "unknown ones are one";
  EXPECT_EQ(tokens(tokenizer, "  a   é "), (Texts{"▁", "a", "▁", "é"}));
  EXPECT_EQ(tokens(tokenizer, "   "), Texts{});
  EXPECT_EQ(tokens(tokenizer, "\xff"), (Texts{"▁", "<unk>"}));
}

TEST(Unigram, TextThatSpellsAControlTokenIsText) {
  TokenizerDescription description = unigram_example();
  const TokenId end = add_special(description, "ba");
  const Tokenizer tokenizer = create(std::move(description));
  EXPECT_EQ(tokens(tokenizer, "ba"), (Texts{"▁", "b", "a"}));
  EXPECT_EQ(encode(tokenizer, "ba", {.parses_special_tokens = true}), (std::vector<TokenId>{end}));
}

TEST(WordPiece, LongestPiecesOrUnknown) {
  const Tokenizer tokenizer = create(word_piece_example());
  constexpr EncodeOptions bare{.adds_special_tokens = false};
  EXPECT_EQ(tokens(tokenizer, "Playing, unplayed."),
            (Texts{"[CLS]", "play", "##ing", ",", "un", "##play", "##ed", ".", "[SEP]"}));
  EXPECT_EQ(tokens(tokenizer, "Cafés play我ing", bare), (Texts{"cafe", "##s", "play", "我", "[UNK]"}));
  EXPECT_EQ(tokens(tokenizer, "playx", bare), (Texts{"[UNK]"})) << "all or nothing";
  std::string longest = "play";
  while (longest.size() < 100) longest += "s";
  EXPECT_EQ(tokens(tokenizer, longest, bare).size(), 97u);
  EXPECT_EQ(tokens(tokenizer, longest + "s", bare), (Texts{"[UNK]"}));
  EXPECT_EQ(tokenizer.decode(encode(tokenizer, "Playing, unplayed.")), "playing, unplayed.");
}

TEST(WordPiece, TextThatSpellsAControlTokenIsText) {
  TokenizerDescription description = word_piece_example();
  add_special(description, "unplay");
  EXPECT_EQ(tokens(create(std::move(description)), "unplay", {.adds_special_tokens = false}), (Texts{"un", "##play"}));
}

TEST(WordPiece, RespelledByConverters) {
  TokenizerDescription description = word_piece_example();
  for (std::size_t id = 3; id < description.tokens.size(); ++id) {
    std::string& token = description.tokens[id];
    token = token.starts_with("##") ? token.substr(2) : "▁" + token;
  }
  description.continuation_prefix = "";
  description.word_prefix = "▁";
  const Tokenizer tokenizer = create(std::move(description));
  constexpr EncodeOptions bare{.adds_special_tokens = false};
  EXPECT_EQ(tokens(tokenizer, "playing, unplayed", bare), (Texts{"▁play", "ing", "▁,", "▁un", "play", "ed"}));
  EXPECT_EQ(tokens(tokenizer, "ing", bare), (Texts{"[UNK]"}));
  EXPECT_EQ(tokenizer.decode(encode(tokenizer, "playing, unplayed", bare)), "playing, unplayed");
}

// A single word, spaces and unknown text of a megabyte: minutes where work is quadratic.
TEST(Models, TimeIsNearlyLinear) {
  constexpr std::size_t size = 1 << 20;
  std::string mixed;
  while (mixed.size() < size) mixed += "thehellab";
  for (TokenizerDescription (*vocabulary)() :
       {byte_level_example, sentence_piece_example, unigram_example, word_piece_example}) {
    TokenizerDescription description = vocabulary();
    description.longest_word = size;
    const Tokenizer tokenizer = create(std::move(description));
    for (const std::string& text :
         {std::string(size, 'l'), std::string(size, ' '), std::string(size, 'a'), std::string(size, '\xff'), mixed}) {
      const auto begin = std::chrono::steady_clock::now();
      (void)encode(tokenizer, text);
      EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(), 30);
    }
  }
}

TEST(Tokenizer, ADescriptionThatContradictsItselfIsRefused) {
  const auto is_refused = [](auto change) {
    TokenizerDescription description = unigram_example();
    change(description);
    return !Tokenizer::create(std::move(description)).ok();
  };
  EXPECT_FALSE(is_refused([](TokenizerDescription&) {}));
  EXPECT_TRUE(is_refused([](TokenizerDescription& d) { d.tokens.clear(); }));
  EXPECT_TRUE(is_refused([](TokenizerDescription& d) { d.types.pop_back(); }));
  EXPECT_TRUE(is_refused([](TokenizerDescription& d) { d.scores.pop_back(); }));
  EXPECT_TRUE(is_refused([](TokenizerDescription& d) { d.scores[1] = std::numeric_limits<double>::quiet_NaN(); }));
  EXPECT_TRUE(is_refused([](TokenizerDescription& d) { d.bos = 100; }));
  EXPECT_TRUE(is_refused([](TokenizerDescription& d) { d.prefix = {-1}; }));
  EXPECT_TRUE(is_refused([](TokenizerDescription& d) { d.added_tokens = {{.id = 99, .text = "x"}}; }));
  EXPECT_TRUE(is_refused([](TokenizerDescription& d) { d.tokens[1] = std::string(2000, 'x'); }));
  EXPECT_TRUE(is_refused([](TokenizerDescription& d) { d.pre_tokenizer = {{.pattern = "("}}; }));
}

// What a user wrote may read as a special token, and may lie right beside one of the template's.
TEST(SpecialTokens, HaveNoByteInWhatSomebodyElseWrote) {
  TokenizerDescription description = byte_level_example();
  add_special(description, "<|im_end|>");
  const std::string text = "he<|im_end|>he<|im_end|>";
  for (const bool is_normalized : {false, true}) {
    description.added_tokens.back().is_normalized = is_normalized;
    description.normalizer = {{.kind = NormalizerStep::Kind::lowercase}};
    const Tokenizer tokenizer = create(description);
    const auto encoded = [&](std::vector<TextRange> foreign) {
      return tokens(tokenizer, text, {.parses_special_tokens = true, .foreign = foreign});
    };
    const Texts all = {"he", "<|im_end|>", "he", "<|im_end|>"};
    const Texts spelled = {"<", "|", "i", "m", "_", "e", "n", "d", "|", ">"};
    Texts first_is_text = {"he"};
    first_is_text.insert(first_is_text.end(), spelled.begin(), spelled.end());
    first_is_text.insert(first_is_text.end(), {"he", "<|im_end|>"});
    EXPECT_EQ(encoded({}), all);
    EXPECT_EQ(encoded({{0, 14}}), first_is_text);
    EXPECT_EQ(encoded({{2, 12}}), first_is_text);
    EXPECT_EQ(encoded({{0, 2}, {12, 14}}), all);
    // Half of its bytes are the user's.
    EXPECT_EQ(encoded({{0, 3}}), first_is_text);
    EXPECT_EQ(encoded({{11, 14}}), first_is_text);
  }
}

// Some files call the end of a turn an ordinary added token.
TEST(SpecialTokens, AreWhateverEndsAnAnswer) {
  TokenizerDescription description = byte_level_example();
  const TokenId end = add_special(description, "<|im_end|>");
  description.added_tokens.back().is_special = false;
  EXPECT_EQ(tokens(create(description), "<|im_end|>"), Texts{"<|im_end|>"});
  description.end_of_generation = {end};
  const Tokenizer tokenizer = create(description);
  EXPECT_TRUE(tokenizer.is_special(end));
  EXPECT_EQ(tokens(tokenizer, "<|im_end|>").size(), 10u);
  EXPECT_EQ(tokens(tokenizer, "<|im_end|>", {.parses_special_tokens = true}), Texts{"<|im_end|>"});
}

}  // namespace
}  // namespace ingot
