// For tests and fuzzing: one small vocabulary of each kind, and what is needed to use them.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/tokenizer/byte_alphabet.h"
#include "model/tokenizer/description.h"
#include "model/tokenizer/well_known_patterns.h"

namespace ingot {

inline TokenId add_token(TokenizerDescription& description, std::string_view text, double score = 0,
                         TokenType type = TokenType::normal) {
  description.tokens.emplace_back(text);
  description.scores.push_back(score);
  description.types.push_back(type);
  return static_cast<TokenId>(description.tokens.size() - 1);
}

inline TokenId add_special(TokenizerDescription& description, std::string_view text) {
  const TokenId id = add_token(description, text, 0, TokenType::control);
  description.added_tokens.push_back({.id = id, .text = std::string(text)});
  return id;
}

// All 256 bytes, then the results of the merges, which are spelled as text.
inline TokenizerDescription byte_level_vocabulary(std::initializer_list<std::pair<const char*, const char*>> merges) {
  TokenizerDescription description;
  description.is_byte_level = true;
  for (int byte = 0; byte < 256; ++byte) {
    const char character = static_cast<char>(byte);
    add_token(description, spelled_bytes({&character, 1}));
  }
  for (const auto& [left, right] : merges) {
    description.merges.push_back({spelled_bytes(left), spelled_bytes(right)});
    add_token(description, spelled_bytes(std::string(left) + right));
  }
  description.pre_tokenizer.push_back({.pattern = std::string(gpt2_pattern)});
  return description;
}

inline TokenizerDescription byte_level_example() {
  return byte_level_vocabulary(
      {{"h", "e"}, {"l", "l"}, {"he", "ll"}, {"hell", "o"}, {" ", "w"}, {"o", "r"}, {" w", "or"}});
}

// Characters with U+2581 for spaces, <0xNN> for everything else.
inline TokenizerDescription sentence_piece_example() {
  TokenizerDescription description;
  description.model = TokenizerModel::sentence_piece;
  description.has_byte_fallback = true;
  description.unknown = add_token(description, "<unk>", 0, TokenType::unknown);
  for (int byte = 0; byte < 256; ++byte) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    const std::string text{
        '<', '0', 'x', digits[static_cast<std::size_t>(byte) / 16], digits[static_cast<std::size_t>(byte) % 16], '>'};
    add_token(description, text, 0, TokenType::byte);
  }
  double score = -1;
  for (std::string_view text : {"ca", "▁t", "he", "▁the", "▁a", "ab", "bc", "▁", "a", "b", "c", "e", "h", "t"}) {
    add_token(description, text, score--);
  }
  description.normalizer.push_back({.kind = NormalizerStep::Kind::prepend, .content = "▁"});
  description.normalizer.push_back({.kind = NormalizerStep::Kind::replace, .pattern = " ", .content = "▁"});
  description.spells_spaces = true;
  description.strips_space_when_decoding = true;
  return description;
}

inline TokenizerDescription unigram_example() {
  TokenizerDescription description;
  description.model = TokenizerModel::unigram;
  description.fuses_unknown = true;
  description.unknown = add_token(description, "<unk>", 0, TokenType::unknown);
  for (const auto& [text, score] :
       {std::pair("▁", -2.0), {"a", -3.0}, {"b", -3.0}, {"ab", -4.0}, {"abb", -9.0}, {"▁ab", -5.0}, {"é", -6.0}}) {
    add_token(description, text, score);
  }
  description.normalizer.push_back(
      {.kind = NormalizerStep::Kind::sentence_piece_spaces, .is_left = true, .is_right = true});
  description.spells_spaces = true;
  description.strips_space_when_decoding = true;
  return description;
}

inline TokenizerDescription word_piece_example() {
  TokenizerDescription description;
  description.model = TokenizerModel::word_piece;
  description.continuation_prefix = "##";
  description.unknown = add_special(description, "[UNK]");
  description.prefix = {add_special(description, "[CLS]")};
  description.suffix = {add_special(description, "[SEP]")};
  for (std::string_view text : {"play", "##ing", "##ed", "un", "##play", "我", ".", ",", "cafe", "##s"}) {
    add_token(description, text);
  }
  description.normalizer.push_back({.kind = NormalizerStep::Kind::bert,
                                    .cleans = true,
                                    .isolates_chinese = true,
                                    .strips_accents = true,
                                    .lowercases = true});
  description.pre_tokenizer.push_back(
      {.pattern = std::string(white_space_pattern), .behavior = SplitBehavior::removed});
  description.pre_tokenizer.push_back(
      {.pattern = std::string(punctuation_pattern), .behavior = SplitBehavior::isolated});
  description.strips_space_when_decoding = true;
  description.cleans_up_spaces = true;
  return description;
}

}  // namespace ingot
