#include <algorithm>
#include <cctype>
#include <string>
#include <utility>

#include "model/files/quoted.h"
#include "model/tokenizer/description.h"
#include "model/tokenizer/gguf_pre_tokenizer.h"
#include "model/tokenizer/segmentation.h"
#include "model/tokenizer/spelled_space.h"
#include "model/tokenizer/well_known_patterns.h"

namespace ingot {

namespace {

class GgufDescriber {
 public:
  explicit GgufDescriber(const Metadata& metadata) : metadata_(metadata) {}

  Result<TokenizerDescription> describe() {
    const std::string_view model = TRY(metadata_.text("tokenizer.ggml.model"));
    TRY(read_tokens());
    if (model == "gpt2" || model == "gemma4") {
      TRY(describe_byte_pair(model));
    } else if (model == "llama") {
      TRY(describe_sentence_piece());
    } else if (model == "t5") {
      TRY(describe_unigram());
    } else if (model == "bert") {
      TRY(describe_word_piece());
    } else {
      return Error::of(ErrorCode::unsupported, "tokenizer.ggml.model: expected gpt2, llama, t5, bert or gemma4, found ",
                       Quoted{model});
    }
    TRY(find_added_tokens());
    complete_special_tokens(result_);
    return std::move(result_);
  }

 private:
  Result<void> read_tokens() {
    const TextList tokens = TRY(metadata_.text_list("tokenizer.ggml.tokens"));
    result_.tokens.assign(tokens.begin(), tokens.end());
    const std::size_t count = tokens.size();
    if (metadata_.has("tokenizer.ggml.scores")) {
      const ScalarList scores = TRY(metadata_.number_list("tokenizer.ggml.scores"));
      if (scores.size() < count) return wrong_count("tokenizer.ggml.scores", scores.size());
      for (std::size_t id = 0; id < count; ++id) result_.scores.push_back(scores.number(id));
    } else {
      result_.scores.assign(count, 0);
    }
    result_.types.assign(count, TokenType::normal);
    if (metadata_.has("tokenizer.ggml.token_type")) {
      const ScalarList types = TRY(metadata_.integer_list("tokenizer.ggml.token_type"));
      if (types.size() < count) return wrong_count("tokenizer.ggml.token_type", types.size());
      for (std::size_t id = 0; id < count; ++id) {
        const std::int64_t type = types.integer(id);
        if (type < 0 || type > 6) {
          return Error::of(ErrorCode::corrupt, "tokenizer.ggml.token_type[", id, "]: expected 0 to 6, found ", type);
        }
        // 0 is "undefined", which nothing treats differently from a token that is not used.
        result_.types[id] = type == 0 ? TokenType::unused : static_cast<TokenType>(type);
      }
    } else {
      for (std::size_t id = 0; id < count; ++id) {
        if (byte_of_token(result_.tokens[id]) >= 0) result_.types[id] = TokenType::byte;
      }
    }
    return {};
  }

  Error wrong_count(std::string_view key, std::size_t found) const {
    return Error::of(ErrorCode::corrupt, key, ": expected ", result_.tokens.size(), " elements, found ", found);
  }

  bool has_byte_tokens() const {
    return std::find(result_.types.begin(), result_.types.end(), TokenType::byte) != result_.types.end();
  }

  // What a file leaves out has a value that its kind of model implies, if the vocabulary is that large.
  Result<TokenId> special(std::string_view key, TokenId implied = no_token) const {
    const auto count = static_cast<std::int64_t>(result_.tokens.size());
    if (!metadata_.has(key)) return implied < count ? implied : no_token;
    const std::int64_t id = TRY(metadata_.integer(key));
    if (id < 0 || id >= count) {
      return Error::of(ErrorCode::out_of_range, key, ": expected an id below ", count, ", found ", id);
    }
    return static_cast<TokenId>(id);
  }

  struct Implied {
    TokenId bos = no_token, eos = no_token, unknown = no_token, separator = no_token, padding = no_token;
    bool adds_bos = false, adds_eos = false;
  };

  Result<void> read_special(Implied implied) {
    result_.bos = TRY(special("tokenizer.ggml.bos_token_id", implied.bos));
    result_.eos = TRY(special("tokenizer.ggml.eos_token_id", implied.eos));
    result_.unknown = TRY(special("tokenizer.ggml.unknown_token_id", implied.unknown));
    // The format itself spells it like this.
    result_.separator = TRY(special("tokenizer.ggml.seperator_token_id", implied.separator));
    result_.padding = TRY(special("tokenizer.ggml.padding_token_id", implied.padding));
    result_.mask = TRY(special("tokenizer.ggml.mask_token_id"));
    result_.end_of_turn = TRY(special("tokenizer.ggml.eot_token_id"));
    result_.end_of_message = TRY(special("tokenizer.ggml.eom_token_id"));
    result_.adds_bos = TRY(metadata_.boolean_or("tokenizer.ggml.add_bos_token", implied.adds_bos));
    result_.adds_eos = TRY(metadata_.boolean_or("tokenizer.ggml.add_eos_token", implied.adds_eos));
    if (result_.adds_bos && result_.bos == no_token) {
      return Error::of(ErrorCode::corrupt,
                       "tokenizer.ggml.add_bos_token: expected tokenizer.ggml.bos_token_id with it");
    }
    if (result_.adds_eos && result_.eos == no_token) {
      return Error::of(ErrorCode::corrupt,
                       "tokenizer.ggml.add_eos_token: expected tokenizer.ggml.eos_token_id with it");
    }
    if (result_.adds_bos) result_.prefix.push_back(result_.bos);
    if (result_.adds_eos) result_.suffix.push_back(result_.eos);
    return {};
  }

  Result<void> read_merges() {
    const TextList merges = TRY(metadata_.text_list("tokenizer.ggml.merges"));
    result_.merges.reserve(merges.size());
    for (std::size_t index = 0; index < merges.size(); ++index) {
      const std::string_view merge = merges[index];
      const std::size_t space = merge.find(' ', 1);
      if (space == std::string_view::npos) {
        return Error::of(ErrorCode::corrupt, "tokenizer.ggml.merges[", index,
                         "]: expected two parts with a space between, found ", Quoted{merge});
      }
      result_.merges.push_back({std::string(merge.substr(0, space)), std::string(merge.substr(space + 1))});
    }
    return {};
  }

  void add_split(std::string_view pattern, SplitBehavior behavior) {
    result_.pre_tokenizer.push_back({.pattern = std::string(pattern), .behavior = behavior});
  }

  Result<void> describe_byte_pair(std::string_view model) {
    const std::string_view name = model == "gemma4" ? "gemma4" : TRY(metadata_.text("tokenizer.ggml.pre"));
    const GgufPreTokenizer& pre = *TRY(find_gguf_pre_tokenizer(name));
    result_.model = TokenizerModel::byte_pair;
    result_.ignores_merges = pre.ignores_merges;
    result_.is_byte_level = !pre.spells_characters;
    // Some vocabularies lack bytes that their training text never had, and their own tokenizers pass over them.
    result_.drops_unknown = true;
    if (pre.spells_characters) {
      result_.has_byte_fallback = has_byte_tokens();
      result_.spells_spaces = true;
      result_.normalizer.push_back(
          {.kind = NormalizerStep::Kind::replace, .pattern = " ", .content = std::string(spelled_space)});
    }
    for (std::string_view pattern : pre.patterns) add_split(pattern, SplitBehavior::isolated);
    TRY(read_merges());
    return read_special({.adds_bos = pre.adds_bos && metadata_.has("tokenizer.ggml.bos_token_id")});
  }

  Result<void> describe_sentence_piece() {
    result_.model = TokenizerModel::sentence_piece;
    result_.has_byte_fallback = has_byte_tokens();
    result_.fuses_unknown = true;
    const bool adds_space = TRY(metadata_.boolean_or("tokenizer.ggml.add_space_prefix", true));
    if (adds_space) {
      result_.normalizer.push_back({.kind = NormalizerStep::Kind::prepend, .content = std::string(spelled_space)});
    }
    result_.normalizer.push_back(
        {.kind = NormalizerStep::Kind::replace, .pattern = " ", .content = std::string(spelled_space)});
    result_.spells_spaces = true;
    result_.strips_space_when_decoding = adds_space;
    return read_special({.bos = 1, .eos = 2, .unknown = 0, .adds_bos = true});
  }

  Result<void> describe_unigram() {
    result_.model = TokenizerModel::unigram;
    result_.has_byte_fallback = has_byte_tokens();
    result_.fuses_unknown = true;
    if (const MetadataValue* map = metadata_.find("tokenizer.ggml.precompiled_charsmap"); map != nullptr) {
      if (!map->is_list || (map->kind != ValueKind::i8 && map->kind != ValueKind::u8)) {
        return Error::of(ErrorCode::corrupt, "tokenizer.ggml.precompiled_charsmap: expected a list of bytes, found ",
                         map->is_list ? "a list of " : "", name_of(map->kind));
      }
      result_.normalizer.push_back({.kind = NormalizerStep::Kind::character_map, .content = std::string(map->text())});
    }
    const bool adds_space = TRY(metadata_.boolean_or("tokenizer.ggml.add_space_prefix", false));
    const bool removes_extra = TRY(metadata_.boolean_or("tokenizer.ggml.remove_extra_whitespaces", false));
    result_.normalizer.push_back(
        {.kind = NormalizerStep::Kind::sentence_piece_spaces, .is_left = adds_space, .is_right = removes_extra});
    result_.spells_spaces = true;
    result_.strips_space_when_decoding = adds_space;
    return read_special({.eos = 1, .unknown = 2, .padding = 0, .adds_eos = true});
  }

  Result<void> describe_word_piece() {
    result_.model = TokenizerModel::word_piece;
    NormalizerStep step{.kind = NormalizerStep::Kind::bert, .cleans = true, .isolates_chinese = true};
    step.lowercases = TRY(metadata_.boolean_or("tokenizer.ggml.normalizer.lowercase", true));
    step.strips_accents = TRY(metadata_.boolean_or("tokenizer.ggml.normalizer.strip_accents", step.lowercases));
    result_.normalizer.push_back(step);
    add_split(white_space_pattern, SplitBehavior::removed);
    add_split(punctuation_pattern, SplitBehavior::isolated);
    // Converters respell ##ing as ing and play as ▁play; a vocabulary without any ▁ was left as it was.
    const bool is_respelled = std::any_of(result_.tokens.begin(), result_.tokens.end(),
                                          [](const std::string& token) { return token.starts_with(spelled_space); });
    (is_respelled ? result_.word_prefix : result_.continuation_prefix) = is_respelled ? spelled_space : "##";
    result_.strips_space_when_decoding = true;
    result_.cleans_up_spaces = true;
    TRY(read_special({.bos = 101, .unknown = 100, .separator = 102, .padding = 0}));
    result_.prefix.clear();
    result_.suffix.clear();
    if (result_.bos != no_token) result_.prefix.push_back(result_.bos);
    if (result_.separator != no_token) result_.suffix.push_back(result_.separator);
    return {};
  }

  Result<void> find_added_tokens() {
    for (std::size_t id = 0; id < result_.tokens.size(); ++id) {
      const std::string& text = result_.tokens[id];
      TokenType& type = result_.types[id];
      // Some files forget to mark what ends an answer.
      if (type == TokenType::normal && text != "</s>" && is_end_of_generation_text(text)) type = TokenType::control;
      const bool is_special = type == TokenType::control || type == TokenType::unknown;
      if (text.empty() || (!is_special && type != TokenType::user_defined)) continue;
      result_.added_tokens.push_back({.id = static_cast<TokenId>(id), .text = text, .is_special = is_special});
    }
    return strip_around_tokens();
  }

  // GGUF has no field for it: it follows from the model.
  Result<void> strip_around_tokens() {
    const std::string_view pre = TRY(metadata_.text_or("tokenizer.ggml.pre", ""));
    const std::string_view architecture = TRY(metadata_.text_or("general.architecture", ""));
    std::string name(TRY(metadata_.text_or("general.name", "")));
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
    const bool is_phi3 = name.find("phi-3") != std::string::npos || name.find("phi3") != std::string::npos;
    const bool strips_before_mask = pre == "jina-v2-de" || pre == "jina-v2-es" || pre == "jina-v2-code" ||
                                    architecture == "nomic-bert-moe" || architecture == "jina-bert-v3";
    for (AddedToken& token : result_.added_tokens) {
      if (strips_before_mask && token.text == "<mask>") token.strips_left = true;
      if (name.find("modern-bert") != std::string::npos && token.text == "[MASK]") token.strips_left = true;
      const bool is_kept = token.text == "<unk>" || token.text == "<s>" || token.text == "<|endoftext|>";
      if (is_phi3 && !is_kept) token.strips_right = true;
    }
    return {};
  }

  const Metadata& metadata_;
  TokenizerDescription result_;
};

}  // namespace

Result<TokenizerDescription> describe_gguf_tokenizer(const Metadata& metadata) {
  return GgufDescriber(metadata).describe();
}

}  // namespace ingot
