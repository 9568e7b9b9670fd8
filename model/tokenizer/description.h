// What a tokenizer is, whatever file it came from: the vocabulary, the steps a text goes through, and the special
// tokens. Tokenizer::create checks it and turns it into something that runs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/files/metadata.h"
#include "model/unicode/normalization.h"

namespace ingot {

using TokenId = std::int32_t;
constexpr TokenId no_token = -1;

enum class TokenizerModel : std::uint8_t {
  byte_pair,       // merges by rank, over bytes (byte_level) or characters
  sentence_piece,  // merges of the adjacent pair whose token has the best score
  unigram,         // the segmentation with the best sum of scores
  word_piece,      // the longest token that begins the rest of the word
};
std::string_view name_of(TokenizerModel model);

// Numbered as GGUF numbers them.
enum class TokenType : std::uint8_t { normal = 1, unknown = 2, control = 3, user_defined = 4, unused = 5, byte = 6 };

struct Merge {
  std::string left, right;
};

// A token that is found in the text itself, before anything else happens to it.
struct AddedToken {
  TokenId id = no_token;
  std::string text = {};
  bool is_special = true;      // found only where special tokens in the text are asked for; left out when decoding
  bool is_normalized = false;  // looked for in the normalized text
  bool strips_left = false;    // takes the white space before it along
  bool strips_right = false;
  bool is_single_word = false;
};

struct NormalizerStep {
  enum class Kind : std::uint8_t {
    unicode_form,
    lowercase,
    strip_accents,         // leaves out marks
    bert,                  // the four flags below
    prepend,               // content, unless the text is empty
    replace,               // the literal pattern by content
    replace_pattern,       // every match of the pattern by content
    strip,                 // white space at is_left, is_right
    character_map,         // SentencePiece's precompiled map, in content
    nmt,                   // control characters left out, odd spaces made plain
    sentence_piece_spaces  // ' ' becomes U+2581; is_left: one in front; is_right: runs become one, none at the ends
  };
  Kind kind;
  NormalizationForm form = NormalizationForm::nfc;
  std::string pattern = {}, content = {};
  bool cleans = false, isolates_chinese = false, strips_accents = false, lowercases = false;  // bert
  bool is_left = false, is_right = false;
};

enum class SplitBehavior : std::uint8_t { isolated, removed, merged_with_previous, merged_with_next, contiguous };
enum class PrependScheme : std::uint8_t { never, first, always };

struct PreTokenizerStep {
  enum class Kind : std::uint8_t {
    split,         // at the matches of the pattern
    prefix_space,  // a space in front of each piece that has none
    metaspace      // ' ' becomes the pattern's text, one is put in front (scheme); pieces begin at it (splits)
  };
  Kind kind = Kind::split;
  std::string pattern = {};
  SplitBehavior behavior = SplitBehavior::isolated;
  bool is_inverted = false;
  PrependScheme scheme = PrependScheme::never;
  bool splits = false;
};

struct TokenizerDescription {
  TokenizerModel model = TokenizerModel::byte_pair;
  std::vector<std::string> tokens;  // as the vocabulary spells them
  std::vector<double> scores;       // empty, or one a token
  std::vector<TokenType> types;     // one a token
  std::vector<Merge> merges;
  std::vector<AddedToken> added_tokens;

  std::vector<NormalizerStep> normalizer;
  std::vector<PreTokenizerStep> pre_tokenizer;
  bool is_byte_level = false;      // byte_pair: the vocabulary spells bytes by GPT-2's alphabet
  bool has_byte_fallback = false;  // what has no token becomes <0xNN> tokens
  bool fuses_unknown = false;      // neighbouring unknown tokens become one
  bool drops_unknown = false;      // what has no token is left out, unknown token or not
  bool ignores_merges = false;     // a piece that is a token is that token
  // word_piece: what a token that continues a word begins with, and one that begins a word
  std::string continuation_prefix, word_prefix;
  std::int32_t longest_word = 100;  // word_piece: code points; longer ones are unknown

  bool spells_spaces = false;               // U+2581 in a token stands for a space
  bool strips_space_when_decoding = false;  // the first space of a decoded text is none
  bool cleans_up_spaces = false;            // word_piece: no space before . , ? !

  TokenId bos = no_token, eos = no_token, unknown = no_token, separator = no_token, padding = no_token;
  TokenId mask = no_token, end_of_turn = no_token, end_of_message = no_token;
  bool adds_bos = false, adds_eos = false;  // what the file says; prefix and suffix are what is added
  std::vector<TokenId> prefix, suffix;      // special tokens put around a text
  std::vector<TokenId> end_of_generation;
};

// The keys tokenizer.ggml.* of a GGUF file.
Result<TokenizerDescription> describe_gguf_tokenizer(const Metadata& metadata);

// The texts of tokenizer.json and, where there is one, of tokenizer_config.json ("" otherwise).
Result<TokenizerDescription> describe_hugging_face_tokenizer(std::string_view tokenizer_json,
                                                             std::string_view tokenizer_config_json);

// Whether a token of this text ends an answer in the models that have it: <|im_end|>, <|eot_id|>, ...
bool is_end_of_generation_text(std::string_view text);

// Fills in what follows from the rest: the special tokens that models spell but do not declare, and what ends an
// answer.
void complete_special_tokens(TokenizerDescription& description);

}  // namespace ingot
