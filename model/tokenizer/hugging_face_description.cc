#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "model/files/quoted.h"
#include "model/tokenizer/hugging_face_json.h"
#include "model/tokenizer/segmentation.h"

namespace ingot {

namespace {

using namespace hugging_face;

Result<Json> parsed(std::string_view document, std::string_view name) {
  Json json = Json::parse(document, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded() || !json.is_object()) {
    return Error::of(ErrorCode::corrupt, name, ": expected a JSON object, found ", Quoted{document.substr(0, 40)});
  }
  return json;
}

class HuggingFaceDescriber {
 public:
  Result<TokenizerDescription> describe(std::string_view tokenizer, std::string_view configuration) {
    const Json json = TRY(parsed(tokenizer, "tokenizer.json"));
    const Json* model = member(json, "model");
    if (model == nullptr) return Error::of(ErrorCode::corrupt, "tokenizer.json: expected a model, found none");
    const auto section = [&](std::string_view key) {
      const Json* found = member(json, key);
      return found == nullptr ? Json() : *found;
    };
    TRY(read_normalizer(section("normalizer"), result_));
    TRY(read_pre_tokenizer(section("pre_tokenizer"), result_));
    TRY(read_decoder(section("decoder"), result_));
    TRY(read_post_processor(section("post_processor"), result_));
    TRY(read_model(*model, section("added_tokens")));
    if (!configuration.empty()) {
      const Json settings = TRY(parsed(configuration, "tokenizer_config.json"));
      TRY(read_configuration(settings));
    }
    complete_special_tokens(result_);
    return std::move(result_);
  }

 private:
  Result<void> read_model(const Json& model, const Json& added) {
    std::string type = TRY(text_or(model, "type", ""));
    // Files from before the type was written.
    if (type.empty() && member(model, "merges") != nullptr) type = "BPE";
    const Json* vocabulary = member(model, "vocab");
    if (vocabulary == nullptr)
      return Error::of(ErrorCode::corrupt, "tokenizer.json, model: expected a vocab, found none");
    if (type == "Unigram") {
      TRY(read_scored(*vocabulary, added));
    } else {
      TRY(read_numbered(*vocabulary, added));
    }
    if (type == "BPE") {
      TRY(read_byte_pair(model));
    } else if (type == "Unigram") {
      TRY(read_unigram(model));
    } else if (type == "WordPiece") {
      TRY(read_word_piece(model));
    } else {
      return Error::of(ErrorCode::unsupported, "tokenizer.json, model.type: expected BPE, Unigram or WordPiece, found ",
                       Quoted{type});
    }
    mark_byte_tokens();
    return {};
  }

  // Room for every id of the vocabulary and of the added tokens. Ids with gaps are allowed as long as they do not ask
  // for much more memory than the file took.
  Result<void> make_room(std::size_t count, std::int64_t largest, const Json& added) {
    if (!added.is_null() && !added.is_array()) return wrong_kind("added_tokens", "a list", added);
    for (const Json& token : added) largest = std::max(largest, TRY(integer(token, "id")));
    const std::size_t most = 4 * (count + added.size()) + 65536;
    if (largest < 0 || static_cast<std::size_t>(largest) >= most) {
      return Error::of(ErrorCode::out_of_range, "tokenizer.json: expected token ids below ", most, ", found ", largest);
    }
    const auto size = static_cast<std::size_t>(largest) + 1;
    result_.tokens.resize(size);
    result_.scores.resize(size);
    result_.types.assign(size, TokenType::unused);
    return {};
  }

  Result<void> read_numbered(const Json& vocabulary, const Json& added) {
    if (!vocabulary.is_object()) return wrong_kind("vocab", "an object", vocabulary);
    std::int64_t largest = -1;
    for (const auto& [token, id] : vocabulary.items()) {
      if (!id.is_number_integer() || id.get<std::int64_t>() < 0) return wrong_kind("vocab", "ids from 0 on", id);
      largest = std::max(largest, id.get<std::int64_t>());
    }
    TRY(make_room(vocabulary.size(), largest, added));
    for (const auto& [token, id] : vocabulary.items()) {
      const auto index = static_cast<std::size_t>(id.get<std::int64_t>());
      result_.tokens[index] = token;
      result_.types[index] = TokenType::normal;
    }
    return read_added(added);
  }

  Result<void> read_scored(const Json& vocabulary, const Json& added) {
    if (!vocabulary.is_array()) return wrong_kind("vocab", "a list of [token, score]", vocabulary);
    TRY(make_room(vocabulary.size(), static_cast<std::int64_t>(vocabulary.size()) - 1, added));
    std::size_t id = 0;
    for (const Json& entry : vocabulary) {
      if (!entry.is_array() || entry.size() != 2 || !entry[0].is_string() || !entry[1].is_number()) {
        return wrong_kind("vocab", "a list of [token, score]", entry);
      }
      result_.tokens[id] = *entry[0].get_ptr<const std::string*>();
      result_.scores[id] = entry[1].get<double>();
      result_.types[id++] = TokenType::normal;
    }
    return read_added(added);
  }

  Result<void> read_added(const Json& added) {
    for (const Json& json : added) {
      AddedToken token;
      token.id = static_cast<TokenId>(TRY(integer(json, "id")));
      if (token.id < 0)
        return Error::of(ErrorCode::out_of_range, "tokenizer.json, added_tokens: expected an id, found ", token.id);
      token.text = TRY(text(json, "content"));
      token.is_special = TRY(boolean_or(json, "special", false));
      token.is_normalized = TRY(boolean_or(json, "normalized", !token.is_special));
      token.strips_left = TRY(boolean_or(json, "lstrip", false));
      token.strips_right = TRY(boolean_or(json, "rstrip", false));
      token.is_single_word = TRY(boolean_or(json, "single_word", false));
      const auto index = static_cast<std::size_t>(token.id);
      result_.tokens[index] = token.text;
      // One that the model has too may still be made from text.
      if (token.is_special) {
        result_.types[index] = TokenType::control;
      } else if (result_.types[index] != TokenType::normal) {
        result_.types[index] = TokenType::user_defined;
      }
      result_.added_tokens.push_back(std::move(token));
    }
    return {};
  }

  TokenId find(std::string_view token) const {
    const auto found = std::find(result_.tokens.begin(), result_.tokens.end(), token);
    return found == result_.tokens.end() || token.empty() ? no_token
                                                          : static_cast<TokenId>(found - result_.tokens.begin());
  }

  Result<void> read_unknown(const Json& model) {
    const std::string token = TRY(text_or(model, "unk_token", ""));
    result_.unknown = find(token);
    if (!token.empty() && result_.unknown == no_token) {
      return Error::of(ErrorCode::corrupt, "tokenizer.json, unk_token: expected a token of the vocab, found ",
                       Quoted{token});
    }
    return {};
  }

  Result<void> read_byte_pair(const Json& model) {
    result_.model = TokenizerModel::byte_pair;
    for (std::string_view key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
      const std::string affix = TRY(text_or(model, key, ""));
      if (!affix.empty()) {
        return Error::of(ErrorCode::unsupported, "tokenizer.json, model.", key, ": expected none, found ",
                         Quoted{affix});
      }
    }
    TRY(read_unknown(model));
    result_.drops_unknown = result_.unknown == no_token;
    result_.fuses_unknown = TRY(boolean_or(model, "fuse_unk", false));
    result_.has_byte_fallback = TRY(boolean_or(model, "byte_fallback", false));
    result_.ignores_merges = TRY(boolean_or(model, "ignore_merges", false));
    const Json* merges = member(model, "merges");
    if (merges == nullptr || !merges->is_array()) {
      return Error::of(ErrorCode::corrupt, "tokenizer.json, model.merges: expected a list");
    }
    for (const Json& merge : *merges) {
      if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string()) {
        result_.merges.push_back({*merge[0].get_ptr<const std::string*>(), *merge[1].get_ptr<const std::string*>()});
        continue;
      }
      if (!merge.is_string()) return wrong_kind("merges", "two texts", merge);
      const std::string& both = *merge.get_ptr<const std::string*>();
      const std::size_t space = both.find(' ');
      if (space == std::string::npos) {
        return Error::of(ErrorCode::corrupt, "tokenizer.json, merges: expected two parts with a space between, found ",
                         Quoted{both});
      }
      result_.merges.push_back({both.substr(0, space), both.substr(space + 1)});
    }
    return {};
  }

  Result<void> read_unigram(const Json& model) {
    result_.model = TokenizerModel::unigram;
    result_.fuses_unknown = true;
    result_.has_byte_fallback = TRY(boolean_or(model, "byte_fallback", false));
    if (member(model, "unk_id") == nullptr) return {};
    const std::int64_t unknown = TRY(integer(model, "unk_id"));
    if (unknown < 0 || static_cast<std::size_t>(unknown) >= result_.tokens.size()) {
      return Error::of(ErrorCode::out_of_range, "tokenizer.json, model.unk_id: expected an id, found ", unknown);
    }
    result_.unknown = static_cast<TokenId>(unknown);
    return {};
  }

  Result<void> read_word_piece(const Json& model) {
    result_.model = TokenizerModel::word_piece;
    TRY(read_unknown(model));
    result_.continuation_prefix = TRY(text_or(model, "continuing_subword_prefix", "##"));
    if (member(model, "max_input_chars_per_word") != nullptr) {
      const std::int64_t longest = TRY(integer(model, "max_input_chars_per_word"));
      result_.longest_word = static_cast<std::int32_t>(std::clamp<std::int64_t>(longest, 0, 1 << 20));
    }
    result_.strips_space_when_decoding = true;
    return {};
  }

  void mark_byte_tokens() {
    if (!result_.has_byte_fallback) return;
    for (std::size_t id = 0; id < result_.tokens.size(); ++id) {
      if (result_.types[id] == TokenType::normal && byte_of_token(result_.tokens[id]) >= 0) {
        result_.types[id] = TokenType::byte;
      }
    }
  }

  // A special token is a text, or an object with one.
  Result<TokenId> configured(const Json& configuration, std::string_view key) const {
    const Json* value = member(configuration, key);
    if (value == nullptr) return no_token;
    const std::string token = value->is_object() ? TRY(text(*value, "content")) : TRY(text(configuration, key));
    return find(token);
  }

  Result<void> read_configuration(const Json& configuration) {
    result_.bos = TRY(configured(configuration, "bos_token"));
    result_.eos = TRY(configured(configuration, "eos_token"));
    result_.separator = TRY(configured(configuration, "sep_token"));
    result_.padding = TRY(configured(configuration, "pad_token"));
    result_.mask = TRY(configured(configuration, "mask_token"));
    if (result_.unknown == no_token && result_.model != TokenizerModel::byte_pair) {
      result_.unknown = TRY(configured(configuration, "unk_token"));
    }
    // The post-processor decides what is added; older files leave it to these two.
    const bool adds_bos = TRY(boolean_or(configuration, "add_bos_token", false));
    const bool adds_eos = TRY(boolean_or(configuration, "add_eos_token", false));
    if (adds_bos && result_.bos != no_token && result_.prefix.empty()) result_.prefix.push_back(result_.bos);
    if (adds_eos && result_.eos != no_token && result_.suffix.empty()) result_.suffix.push_back(result_.eos);
    result_.adds_bos = std::find(result_.prefix.begin(), result_.prefix.end(), result_.bos) != result_.prefix.end();
    result_.adds_eos = std::find(result_.suffix.begin(), result_.suffix.end(), result_.eos) != result_.suffix.end();
    return {};
  }

  TokenizerDescription result_;
};

}  // namespace

Result<TokenizerDescription> describe_hugging_face_tokenizer(std::string_view tokenizer_json,
                                                             std::string_view tokenizer_config_json) {
  return HuggingFaceDescriber().describe(tokenizer_json, tokenizer_config_json);
}

}  // namespace ingot
