#include <nlohmann/json.hpp>
#include <utility>

#include "model/files/quoted.h"
#include "model/tokenizer/hugging_face_json.h"
#include "model/tokenizer/spelled_space.h"
#include "model/tokenizer/well_known_patterns.h"

namespace ingot::hugging_face {

namespace {

constexpr int deepest_sequence = 8;

Error unknown_type(std::string_view section, std::string_view type) {
  return Error::of(ErrorCode::unsupported, "tokenizer.json, ", section, ": expected a known type, found ",
                   Quoted{type});
}

// Calls read(step) for a section of one step or for each step of a "Sequence".
template <class Read>
Result<void> for_each_step(const Json& section, std::string_view list, int depth, Read read) {
  if (section.is_null()) return {};
  const Result<std::string> type = text(section, "type");
  if (!type.ok()) return type.error();
  if (type.value() != "Sequence") return read(section, type.value());
  const Json* steps = member(section, list);
  if (steps == nullptr || !steps->is_array() || depth > deepest_sequence) {
    return Error::of(ErrorCode::corrupt, "tokenizer.json, Sequence: expected a list ", list, " nested at most ",
                     deepest_sequence, " deep");
  }
  for (const Json& step : *steps) TRY(for_each_step(step, list, depth + 1, read));
  return {};
}

struct PatternText {
  std::string pattern;
  bool is_literal;
};

Result<PatternText> pattern_of(const Json& step) {
  const Json* pattern = member(step, "pattern");
  if (pattern == nullptr) return Error::of(ErrorCode::corrupt, "tokenizer.json, pattern: expected one, found nothing");
  if (pattern->is_string()) return PatternText{*pattern->get_ptr<const std::string*>(), true};
  if (member(*pattern, "String") != nullptr) return PatternText{TRY(text(*pattern, "String")), true};
  return PatternText{TRY(text(*pattern, "Regex")), false};
}

Result<std::string> decoded_base64(std::string_view encoded) {
  std::string bytes;
  std::uint32_t bits = 0;
  int count = 0;
  for (char character : encoded) {
    constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    if (character == '=') break;
    const std::size_t value = digits.find(character);
    if (value == std::string_view::npos) {
      return Error::of(ErrorCode::corrupt, "tokenizer.json, precompiled_charsmap: expected base64, found ",
                       Quoted{{&character, 1}});
    }
    bits = bits << 6 | static_cast<std::uint32_t>(value);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count & 0xff);
  }
  return bytes;
}

Result<SplitBehavior> behavior_of(const Json& step, std::string_view absent) {
  constexpr std::pair<std::string_view, SplitBehavior> behaviors[] = {
      {"Isolated", SplitBehavior::isolated},
      {"Removed", SplitBehavior::removed},
      {"MergedWithPrevious", SplitBehavior::merged_with_previous},
      {"MergedWithNext", SplitBehavior::merged_with_next},
      {"Contiguous", SplitBehavior::contiguous}};
  const std::string name = TRY(text_or(step, "behavior", absent));
  for (const auto& [known, behavior] : behaviors) {
    if (name == known) return behavior;
  }
  return unknown_type("behavior", name);
}

Result<PrependScheme> scheme_of(const Json& step) {
  const bool adds_prefix = TRY(boolean_or(step, "add_prefix_space", true));
  const std::string name = TRY(text_or(step, "prepend_scheme", adds_prefix ? "always" : "never"));
  if (name == "always") return PrependScheme::always;
  if (name == "first") return PrependScheme::first;
  if (name == "never") return PrependScheme::never;
  return unknown_type("prepend_scheme", name);
}

Result<void> read_normalizer_step(const Json& step, std::string_view type, TokenizerDescription& description) {
  using Kind = NormalizerStep::Kind;
  NormalizerStep result{.kind = Kind::unicode_form};
  if (type == "NFC") {
  } else if (type == "NFD") {
    result.form = NormalizationForm::nfd;
  } else if (type == "NFKC") {
    result.form = NormalizationForm::nfkc;
  } else if (type == "NFKD") {
    result.form = NormalizationForm::nfkd;
  } else if (type == "Lowercase") {
    result.kind = Kind::lowercase;
  } else if (type == "StripAccents") {
    result.kind = Kind::strip_accents;
  } else if (type == "BertNormalizer") {
    result.kind = Kind::bert;
    result.cleans = TRY(boolean_or(step, "clean_text", true));
    result.isolates_chinese = TRY(boolean_or(step, "handle_chinese_chars", true));
    result.lowercases = TRY(boolean_or(step, "lowercase", true));
    result.strips_accents = TRY(boolean_or(step, "strip_accents", result.lowercases));
  } else if (type == "Prepend") {
    result.kind = Kind::prepend;
    result.content = TRY(text(step, "prepend"));
  } else if (type == "Replace") {
    PatternText pattern = TRY(pattern_of(step));
    result.kind = pattern.is_literal ? Kind::replace : Kind::replace_pattern;
    result.pattern = std::move(pattern.pattern);
    result.content = TRY(text(step, "content"));
  } else if (type == "Strip") {
    result.kind = Kind::strip;
    result.is_left = TRY(boolean_or(step, "strip_left", true));
    result.is_right = TRY(boolean_or(step, "strip_right", true));
  } else if (type == "Precompiled") {
    result.kind = Kind::character_map;
    const std::string encoded = TRY(text_or(step, "precompiled_charsmap", ""));
    result.content = TRY(decoded_base64(encoded));
    if (result.content.empty()) return {};
  } else if (type == "Nmt") {
    result.kind = Kind::nmt;
  } else if (type == "ByteLevel") {
    description.is_byte_level = true;
    return {};
  } else {
    return unknown_type("normalizer", type);
  }
  description.normalizer.push_back(std::move(result));
  return {};
}

Result<void> read_pre_tokenizer_step(const Json& step, std::string_view type, TokenizerDescription& description) {
  const auto add_split = [&](std::string_view pattern, SplitBehavior behavior, bool is_inverted = false) {
    description.pre_tokenizer.push_back(
        {.pattern = std::string(pattern), .behavior = behavior, .is_inverted = is_inverted});
  };
  if (type == "ByteLevel") {
    description.is_byte_level = true;
    if (TRY(boolean_or(step, "add_prefix_space", true))) {
      description.pre_tokenizer.push_back({.kind = PreTokenizerStep::Kind::prefix_space});
      description.strips_space_when_decoding = false;
    }
    if (TRY(boolean_or(step, "use_regex", true))) add_split(gpt2_pattern, SplitBehavior::isolated);
  } else if (type == "Split") {
    const PatternText pattern = TRY(pattern_of(step));
    add_split(pattern.is_literal ? literal_pattern(pattern.pattern) : pattern.pattern,
              TRY(behavior_of(step, "Isolated")), TRY(boolean_or(step, "invert", false)));
  } else if (type == "Digits") {
    const bool is_individual = TRY(boolean_or(step, "individual_digits", false));
    add_split(is_individual ? R"(\p{N})" : R"(\p{N}+)", SplitBehavior::isolated);
  } else if (type == "Punctuation") {
    add_split(punctuation_pattern, TRY(behavior_of(step, "Isolated")));
  } else if (type == "Whitespace") {
    add_split(R"(\w+|[^\w\s]+)", SplitBehavior::removed, true);
  } else if (type == "WhitespaceSplit") {
    add_split(white_space_pattern, SplitBehavior::removed);
  } else if (type == "BertPreTokenizer") {
    add_split(white_space_pattern, SplitBehavior::removed);
    add_split(punctuation_pattern, SplitBehavior::isolated);
  } else if (type == "CharDelimiterSplit") {
    add_split(literal_pattern(TRY(text(step, "delimiter"))), SplitBehavior::removed);
  } else if (type == "Metaspace") {
    description.pre_tokenizer.push_back({.kind = PreTokenizerStep::Kind::metaspace,
                                         .pattern = TRY(text_or(step, "replacement", spelled_space)),
                                         .scheme = TRY(scheme_of(step)),
                                         .splits = TRY(boolean_or(step, "split", true))});
  } else {
    return unknown_type("pre_tokenizer", type);
  }
  return {};
}

Result<TokenId> id_of_pair(const Json& step, std::string_view key) {
  const Json* pair = member(step, key);
  if (pair == nullptr || !pair->is_array() || pair->size() != 2 || !(*pair)[1].is_number_integer()) {
    return Error::of(ErrorCode::corrupt, "tokenizer.json, ", key, ": expected [token, id]");
  }
  const auto id = (*pair)[1].get<std::int64_t>();
  return id >= 0 && id < (1 << 28) ? static_cast<TokenId>(id) : no_token;
}

// Template: what stands before the sequence goes in front of a text, what stands after it behind.
Result<void> read_template(const Json& step, TokenizerDescription& description) {
  const Json* items = member(step, "single");
  if (items == nullptr || !items->is_array()) {
    return Error::of(ErrorCode::corrupt, "tokenizer.json, TemplateProcessing: expected a list single");
  }
  const Json* tokens = member(step, "special_tokens");
  bool is_after = false;
  for (const Json& item : *items) {
    if (member(item, "Sequence") != nullptr) {
      is_after = true;
      continue;
    }
    const Json* special = member(item, "SpecialToken");
    if (special == nullptr) {
      return Error::of(ErrorCode::corrupt, "tokenizer.json, TemplateProcessing: expected Sequence or SpecialToken");
    }
    const std::string name = TRY(text(*special, "id"));
    const Json* token = tokens == nullptr ? nullptr : member(*tokens, name);
    const Json* ids = token == nullptr ? nullptr : member(*token, "ids");
    if (ids == nullptr || !ids->is_array()) {
      return Error::of(ErrorCode::corrupt, "tokenizer.json, special_tokens: expected ids of ", Quoted{name});
    }
    for (const Json& id : *ids) {
      if (!id.is_number_integer()) return wrong_kind("special_tokens", "an id", id);
      const auto value = id.get<std::int64_t>();
      if (value < 0 || value >= (1 << 28)) {
        return Error::of(ErrorCode::out_of_range, "tokenizer.json, special_tokens: expected an id, found ", value);
      }
      (is_after ? description.suffix : description.prefix).push_back(static_cast<TokenId>(value));
    }
  }
  return {};
}

Result<void> read_post_processor_step(const Json& step, std::string_view type, TokenizerDescription& description) {
  if (type == "ByteLevel") return {};
  if (type == "TemplateProcessing") return read_template(step, description);
  if (type != "BertProcessing" && type != "RobertaProcessing") return unknown_type("post_processor", type);
  description.prefix.push_back(TRY(id_of_pair(step, "cls")));
  description.suffix.push_back(TRY(id_of_pair(step, "sep")));
  return {};
}

Result<void> read_decoder_step(const Json& step, std::string_view type, TokenizerDescription& description) {
  if (type == "ByteLevel") {
    description.is_byte_level = true;
  } else if (type == "Metaspace") {
    description.spells_spaces = true;
    description.strips_space_when_decoding = TRY(scheme_of(step)) != PrependScheme::never;
  } else if (type == "Replace") {
    const PatternText pattern = TRY(pattern_of(step));
    const std::string content = TRY(text(step, "content"));
    if (pattern.pattern != spelled_space || content != " ") {
      return Error::of(ErrorCode::unsupported,
                       "tokenizer.json, decoder: expected U+2581 to be replaced by a space, found ",
                       Quoted{pattern.pattern});
    }
    description.spells_spaces = true;
  } else if (type == "Strip") {
    description.strips_space_when_decoding = true;
  } else if (type == "WordPiece") {
    description.cleans_up_spaces = TRY(boolean_or(step, "cleanup", true));
  } else if (type != "ByteFallback" && type != "Fuse") {
    return unknown_type("decoder", type);
  }
  return {};
}

}  // namespace

Result<void> read_normalizer(const Json& section, TokenizerDescription& description) {
  return for_each_step(section, "normalizers", 0, [&](const Json& step, std::string_view type) {
    return read_normalizer_step(step, type, description);
  });
}

Result<void> read_pre_tokenizer(const Json& section, TokenizerDescription& description) {
  return for_each_step(section, "pretokenizers", 0, [&](const Json& step, std::string_view type) {
    return read_pre_tokenizer_step(step, type, description);
  });
}

Result<void> read_post_processor(const Json& section, TokenizerDescription& description) {
  return for_each_step(section, "processors", 0, [&](const Json& step, std::string_view type) {
    return read_post_processor_step(step, type, description);
  });
}

Result<void> read_decoder(const Json& section, TokenizerDescription& description) {
  return for_each_step(section, "decoders", 0, [&](const Json& step, std::string_view type) {
    return read_decoder_step(step, type, description);
  });
}

}  // namespace ingot::hugging_face
