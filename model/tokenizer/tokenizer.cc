#include "model/tokenizer/tokenizer.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/files/quoted.h"
#include "model/tokenizer/added_tokens.h"
#include "model/tokenizer/normalizer.h"
#include "model/tokenizer/pieces.h"
#include "model/tokenizer/pre_tokenizer.h"
#include "model/tokenizer/segmentation.h"
#include "model/tokenizer/token_map.h"

namespace ingot {

struct Tokenizer::State {
  explicit State(TokenizerDescription from) : description(std::move(from)), pieces(description) {}

  TokenizerDescription description;
  Pieces pieces;
  Normalizer normalizer;
  PreTokenizer pre_tokenizer;
  AddedTokens raw_added, normalized_added;
  std::unique_ptr<const Segmentation> segmentation;
  TokenMap ids;
  std::vector<bool> is_special, ends_generation;

  // Nothing in the text is a special token that is found before a normalizer ran.
  Result<void> append_segment(std::string_view text, bool is_first, bool finds_special, Segmentation::Scratch& scratch,
                              std::vector<TokenId>& output) const;
};

namespace {

// A part of a text, and whether special tokens may be found in it.
struct Stretch {
  std::string_view text;
  bool is_foreign;
};

// The part from `offset` on, cut where foreign stretches begin and end.
std::vector<Stretch> cut(std::string_view part, std::size_t offset, std::span<const TextRange> foreign) {
  std::vector<Stretch> stretches;
  std::size_t done = 0;
  const auto take_to = [&](std::size_t end, bool is_foreign) {
    end = std::min(end < offset ? 0 : end - offset, part.size());
    if (end <= done) return;
    stretches.push_back({part.substr(done, end - done), is_foreign});
    done = end;
  };
  for (const TextRange& range : foreign) {
    take_to(range.begin, false);
    take_to(range.end, true);
  }
  take_to(offset + part.size(), false);
  return stretches;
}

Result<void> check(const TokenizerDescription& description) {
  const std::size_t count = description.tokens.size();
  if (count == 0 || count > (1u << 28)) {
    return Error::of(ErrorCode::corrupt, "tokenizer tokens: expected 1 to 2^28, found ", count);
  }
  if (description.types.size() != count) {
    return Error::of(ErrorCode::corrupt, "tokenizer token types: expected ", count, ", found ",
                     description.types.size());
  }
  for (std::size_t id = 0; id < description.scores.size(); ++id) {
    if (std::isnan(description.scores[id])) {
      return Error::of(ErrorCode::corrupt, "tokenizer score of token ", id, ": expected a number, found NaN");
    }
  }
  const auto check_id = [&](TokenId id, std::string_view what) -> Result<void> {
    if (id >= 0 && static_cast<std::size_t>(id) < count) return {};
    return Error::of(ErrorCode::out_of_range, "tokenizer ", what, ": expected an id below ", count, ", found ", id);
  };
  for (const AddedToken& token : description.added_tokens) TRY(check_id(token.id, "added token"));
  for (TokenId id : description.prefix) TRY(check_id(id, "token put in front of a text"));
  for (TokenId id : description.suffix) TRY(check_id(id, "token put behind a text"));
  for (TokenId id : description.end_of_generation) TRY(check_id(id, "end of generation"));
  const std::pair<TokenId, std::string_view> special[] = {{description.bos, "bos"},
                                                          {description.eos, "eos"},
                                                          {description.unknown, "unknown token"},
                                                          {description.separator, "separator"},
                                                          {description.padding, "padding"},
                                                          {description.mask, "mask"}};
  for (const auto& [id, name] : special) {
    if (id != no_token) TRY(check_id(id, name));
  }
  return {};
}

Result<std::unique_ptr<const Segmentation>> create_segmentation(const TokenizerDescription& description) {
  switch (description.model) {
    case TokenizerModel::byte_pair: return create_byte_pair(description);
    case TokenizerModel::sentence_piece: return create_sentence_piece(description);
    case TokenizerModel::unigram: return create_unigram(description);
    case TokenizerModel::word_piece: return create_word_piece(description);
  }
  return Error::of(ErrorCode::unsupported, "tokenizer model: expected one of four kinds");
}

}  // namespace

std::string_view name_of(TokenizerModel model) {
  switch (model) {
    case TokenizerModel::byte_pair: return "byte pair";
    case TokenizerModel::sentence_piece: return "SentencePiece";
    case TokenizerModel::unigram: return "unigram";
    case TokenizerModel::word_piece: return "WordPiece";
  }
  return "unknown";
}

Result<Tokenizer> Tokenizer::create(TokenizerDescription from) {
  TRY(check(from));
  auto state = std::make_unique<State>(std::move(from));
  const TokenizerDescription& description = state->description;
  state->normalizer = TRY(Normalizer::create(description.normalizer));
  state->pre_tokenizer = TRY(PreTokenizer::create(description.pre_tokenizer));
  state->segmentation = TRY(create_segmentation(description));

  const std::size_t count = description.tokens.size();
  state->is_special.resize(count);
  state->ends_generation.resize(count);
  for (TokenId id : description.end_of_generation) state->ends_generation[static_cast<std::size_t>(id)] = true;

  std::vector<AddedToken> raw, normalized_tokens;
  for (AddedToken token : description.added_tokens) {
    // What ends an answer is special whatever the file calls it, or any text could end one.
    token.is_special = token.is_special || state->ends_generation[static_cast<std::size_t>(token.id)];
    if (token.is_normalized && !state->normalizer.is_empty()) {
      token.text = state->normalizer.run(std::move(token.text));
      if (!token.text.empty()) normalized_tokens.push_back(std::move(token));
    } else if (!token.text.empty()) {
      raw.push_back(std::move(token));
    }
  }
  state->raw_added = TRY(AddedTokens::create(std::move(raw)));
  state->normalized_added = TRY(AddedTokens::create(std::move(normalized_tokens)));

  for (std::size_t id = 0; id < count; ++id) {
    state->ids.insert(description.tokens[id], static_cast<TokenId>(id));
    state->is_special[id] = description.types[id] == TokenType::control || description.types[id] == TokenType::unknown;
  }
  for (const AddedToken& token : description.added_tokens) {
    const auto id = static_cast<std::size_t>(token.id);
    state->is_special[id] = token.is_special || state->ends_generation[id];
  }
  return Tokenizer(std::unique_ptr<const State>(std::move(state)));
}

Tokenizer::Tokenizer(std::unique_ptr<const State> state) : state_(std::move(state)) {}
Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&&) noexcept = default;
Tokenizer::~Tokenizer() = default;

Result<void> Tokenizer::State::append_segment(std::string_view text, bool is_first, bool finds_special,
                                              Segmentation::Scratch& scratch, std::vector<TokenId>& output) const {
  const std::string changed = normalizer.run(std::string(text));
  for (const AddedTokens::Part& part : normalized_added.split(changed, {.is_on = finds_special})) {
    if (part.id != no_token) {
      output.push_back(part.id);
      continue;
    }
    const bool is_part_first = is_first && part.text.data() == changed.data();
    const PreTokenizedText pieces_of = pre_tokenizer.run(std::string(part.text), is_part_first);
    for (const TextRange& piece : pieces_of.pieces) {
      TRY(segmentation->append_ids(pieces_of.text.slice(piece.begin, piece.end), scratch, output));
    }
  }
  return {};
}

Result<std::vector<TokenId>> Tokenizer::encode(std::string_view text, EncodeOptions options) const {
  // Offsets inside are 32 bits wide, and a normalizer may make a text longer.
  constexpr std::size_t longest_text = std::size_t{1} << 28;
  if (text.size() > longest_text) {
    return Error::of(ErrorCode::out_of_range, "tokenizer: expected a text of at most ", longest_text, " bytes, found ",
                     text.size());
  }
  std::vector<TokenId> ids;
  Segmentation::Scratch scratch;
  if (options.adds_special_tokens) ids = state_->description.prefix;
  const bool finds_special = options.parses_special_tokens;
  // A normalizer moves bytes, so what it must not turn into a special token goes through it by itself.
  const bool cuts = finds_special && !options.foreign.empty() && state_->normalized_added.has_special();
  for (const AddedTokens::Part& part : state_->raw_added.split(text, {finds_special, options.foreign})) {
    if (part.id != no_token) {
      ids.push_back(part.id);
      continue;
    }
    const auto offset = static_cast<std::size_t>(part.text.data() - text.data());
    if (!cuts) {
      TRY(state_->append_segment(part.text, offset == 0, finds_special, scratch, ids));
      continue;
    }
    for (const Stretch& stretch : cut(part.text, offset, options.foreign)) {
      TRY(state_->append_segment(stretch.text, stretch.text.data() == text.data(), !stretch.is_foreign, scratch, ids));
    }
  }
  if (options.adds_special_tokens) {
    ids.insert(ids.end(), state_->description.suffix.begin(), state_->description.suffix.end());
  }
  return ids;
}

std::string Tokenizer::decode(std::span<const TokenId> ids, DecodeOptions options) const {
  std::string text;
  for (TokenId id : ids) {
    if (!is_special(id) || options.keeps_special_tokens) text += piece(id);
  }
  const bool strips = options.is_text_begin && state_->description.strips_space_when_decoding;
  if (strips && text.starts_with(' ')) text.erase(0, 1);
  return text;
}

std::int32_t Tokenizer::vocabulary_size() const { return static_cast<std::int32_t>(state_->description.tokens.size()); }
std::string_view Tokenizer::piece(TokenId id) const { return is_token(id) ? state_->pieces[id] : std::string_view(); }
TokenId Tokenizer::find(std::string_view text) const { return state_->ids.find(text); }
TokenId Tokenizer::bos() const { return state_->description.bos; }
TokenId Tokenizer::eos() const { return state_->description.eos; }
TokenId Tokenizer::unknown() const { return state_->description.unknown; }
TokenId Tokenizer::padding() const { return state_->description.padding; }
bool Tokenizer::is_special(TokenId id) const {
  return is_token(id) && state_->is_special[static_cast<std::size_t>(id)];
}
bool Tokenizer::is_end_of_generation(TokenId id) const {
  return is_token(id) && state_->ends_generation[static_cast<std::size_t>(id)];
}
const TokenizerDescription& Tokenizer::description() const { return state_->description; }

}  // namespace ingot
