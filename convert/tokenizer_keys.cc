#include "convert/tokenizer_keys.h"

#include <algorithm>
#include <map>

#include "model/files/quoted.h"
#include "model/tokenizer/gguf_pre_tokenizer.h"

namespace ingot {
namespace {

constexpr std::string_view spelled_space = "\xe2\x96\x81";

// Words, numbers, spaces, lines, punctuation, contractions, code and several
// scripts: what pre-tokenizers differ in.
constexpr std::string_view comparison_text =
    "Hello, world! It's 3.14159 o'clock; we'LL see   what\n\n\tthey've done "
    "(in 2024).\r\n"
    "for (int i = 0; i < 100000; ++i) { total += x[i] * 0x1F; }  // $5 + 10% = "
    "?!...\n"
    "na\u00efve caf\u00e9 \u00dcbung "
    "\u0417\u0434\u0440\u0430\u0432\u0441\u0442\u0432\u0443\u0439 "
    "\u4f60\u597d\uff0c\u4e16\u754c \u3053\u3093\u306b\u3061\u306f "
    "\uc548\ub155 \U0001F600 end";

using Kind = NormalizerStep::Kind;

class KeyWriter {
 public:
  // The keys are added to a copy of `metadata`.
  KeyWriter(const TokenizerDescription& description, std::int64_t vocabulary, const Metadata& metadata)
      : description_(description),
        tokens_(description.tokens),
        types_(description.types.begin(), description.types.end()),
        scores_(description.scores.begin(), description.scores.end()),
        metadata_(metadata) {
    const auto wanted = static_cast<std::size_t>(std::max<std::int64_t>(vocabulary, 0));
    if (tokens_.size() < wanted) tokens_.resize(wanted);
    types_.resize(tokens_.size(), TokenType::unused);
    scores_.resize(tokens_.size(), 0);
    // Readers expect every text once.
    for (std::size_t id = 0; id < tokens_.size(); ++id) {
      if (tokens_[id].empty()) tokens_[id] = "[PAD" + std::to_string(id) + "]";
    }
  }

  Result<Metadata> write() {
    switch (description_.model) {
      case TokenizerModel::byte_pair:
        if (description_.is_byte_level) {
          TRY(write_byte_pair());
        } else {
          TRY(write_characters());
        }
        break;
      case TokenizerModel::sentence_piece: write_sentence_piece(); break;
      case TokenizerModel::unigram: write_unigram(); break;
      case TokenizerModel::word_piece: write_word_piece(); break;
    }
    write_tokens();
    TRY(write_special());
    return std::move(metadata_);
  }

 private:
  void set(std::string_view key, bool value) {
    metadata_.set_boolean(std::string("tokenizer.ggml.").append(key), value);
  }
  void set_id(std::string_view key, TokenId id) {
    if (id == no_token) return;
    metadata_.set_scalar(std::string("tokenizer.ggml.").append(key), static_cast<std::uint32_t>(id));
  }
  void set_model(std::string_view model, std::string_view pre) {
    metadata_.set_text("tokenizer.ggml.model", model);
    metadata_.set_text("tokenizer.ggml.pre", pre);
  }

  void write_tokens() {
    const std::vector<std::string_view> texts(tokens_.begin(), tokens_.end());
    metadata_.set_text_list("tokenizer.ggml.tokens", texts);
    std::vector<std::int32_t> types;
    for (const TokenType type : types_) types.push_back(static_cast<std::int32_t>(type));
    metadata_.set_scalar_list<std::int32_t>("tokenizer.ggml.token_type", types);
  }

  // Every split must be one that a name of tokenizer.ggml.pre stands for.
  Result<std::string_view> pre_tokenizer_name() const {
    std::vector<std::string_view> patterns;
    for (const PreTokenizerStep& step : description_.pre_tokenizer) {
      // Keeping nothing but the matches is the same: these patterns match
      // everything.
      const bool isolates = step.behavior == SplitBehavior::isolated && !step.is_inverted;
      const bool keeps_matches = step.behavior == SplitBehavior::removed && step.is_inverted;
      if (step.kind != PreTokenizerStep::Kind::split || !(isolates || keeps_matches)) {
        return Error::of(ErrorCode::unsupported, "GGUF has no name for a step of its pre-tokenizer");
      }
      patterns.push_back(step.pattern);
    }
    for (const GgufPreTokenizer& known : gguf_pre_tokenizers()) {
      if (known.spells_characters || known.ignores_merges != description_.ignores_merges) continue;
      if (std::ranges::equal(known.patterns, patterns)) return known.names[0];
    }
    return Error::of(ErrorCode::unsupported, "GGUF has no name for its pre-tokenizer's patterns, ",
                     Quoted{patterns.empty() ? "none" : patterns[0]});
  }

  Result<void> write_byte_pair() {
    set_model("gpt2", TRY(pre_tokenizer_name()));
    std::vector<std::string> merges;
    for (const Merge& merge : description_.merges) {
      merges.push_back(std::string(merge.left).append(" ").append(merge.right));
    }
    const std::vector<std::string_view> texts(merges.begin(), merges.end());
    metadata_.set_text_list("tokenizer.ggml.merges", texts);
    return {};
  }

  // SentencePiece's vocabularies as merges: the earlier a merge, the better its
  // token's score.
  Result<void> write_characters() {
    if (!description_.spells_spaces) {
      return Error::of(ErrorCode::unsupported,
                       "GGUF has no kind for merges of characters without "
                       "U+2581 for spaces");
    }
    std::map<std::string, std::size_t, std::less<>> ranks;
    for (std::size_t rank = 0; rank < description_.merges.size(); ++rank) {
      ranks.emplace(description_.merges[rank].left + description_.merges[rank].right, rank);
    }
    for (std::size_t id = 0; id < tokens_.size(); ++id) {
      const auto found = ranks.find(tokens_[id]);
      const std::size_t rank = found == ranks.end() ? ranks.size() : found->second;
      scores_[id] = types_[id] == TokenType::normal ? -static_cast<float>(rank) : 0.0f;
    }
    write_sentence_piece();
    return {};
  }

  bool puts_space_in_front() const {
    const auto prepends = [](const NormalizerStep& step) {
      return (step.kind == Kind::prepend && step.content == spelled_space) ||
             (step.kind == Kind::sentence_piece_spaces && step.is_left);
    };
    const auto begins = [](const PreTokenizerStep& step) {
      return step.kind == PreTokenizerStep::Kind::metaspace && step.scheme != PrependScheme::never;
    };
    return std::ranges::any_of(description_.normalizer, prepends) ||
           std::ranges::any_of(description_.pre_tokenizer, begins);
  }

  void write_scored(std::string_view model) {
    if (description_.unknown != no_token) types_[static_cast<std::size_t>(description_.unknown)] = TokenType::unknown;
    set_model(model, "default");
    metadata_.set_scalar_list<float>("tokenizer.ggml.scores", scores_);
    set("add_space_prefix", puts_space_in_front());
  }

  void write_sentence_piece() { write_scored("llama"); }

  void write_unigram() {
    write_scored("t5");
    bool removes_extra = false;
    for (const NormalizerStep& step : description_.normalizer) {
      removes_extra |=
          step.kind == Kind::replace_pattern || (step.kind == Kind::sentence_piece_spaces && step.is_right);
      if (step.kind != Kind::character_map) continue;
      const auto* bytes = reinterpret_cast<const std::uint8_t*>(step.content.data());
      metadata_.set_scalar_list<std::uint8_t>("tokenizer.ggml.precompiled_charsmap", {bytes, step.content.size()});
    }
    set("remove_extra_whitespaces", removes_extra);
  }

  // GGUF marks what begins a word, where these vocabularies mark what continues
  // one.
  void write_word_piece() {
    set_model("bert", "default");
    for (std::size_t id = 0; id < tokens_.size(); ++id) {
      if (types_[id] != TokenType::normal) continue;
      const std::string& prefix = description_.continuation_prefix;
      if (!prefix.empty() && tokens_[id].starts_with(prefix)) {
        tokens_[id].erase(0, prefix.size());
      } else if (description_.word_prefix != spelled_space) {
        tokens_[id].insert(0, spelled_space);
      }
    }
    for (const NormalizerStep& step : description_.normalizer) {
      if (step.kind != Kind::bert) continue;
      set("normalizer.lowercase", step.lowercases);
      set("normalizer.strip_accents", step.strips_accents);
    }
  }

  Result<void> write_special() {
    const TokenizerDescription& from = description_;
    if (from.prefix.size() > 1 || from.suffix.size() > 1) {
      return Error::of(ErrorCode::unsupported,
                       "GGUF has no keys for more than one token put before or "
                       "after a text");
    }
    const bool is_word_piece = from.model == TokenizerModel::word_piece;
    const TokenId before = from.prefix.empty() ? no_token : from.prefix[0];
    const TokenId after = from.suffix.empty() ? no_token : from.suffix[0];
    set_id("bos_token_id", before != no_token ? before : from.bos);
    set_id("eos_token_id", after != no_token && !is_word_piece ? after : from.eos);
    set_id("seperator_token_id", is_word_piece && after != no_token ? after : from.separator);
    set_id("unknown_token_id", from.unknown);
    set_id("padding_token_id", from.padding);
    set_id("mask_token_id", from.mask);
    set("add_bos_token", before != no_token);
    set("add_eos_token", after != no_token && !is_word_piece);
    return {};
  }

  const TokenizerDescription& description_;
  std::vector<std::string> tokens_;
  std::vector<TokenType> types_;
  std::vector<float> scores_;
  Metadata metadata_;
};

Result<bool> reads_the_same(const Tokenizer& tokenizer, const Metadata& written) {
  TokenizerDescription description = TRY(describe_gguf_tokenizer(written));
  const Tokenizer again = TRY(Tokenizer::create(std::move(description)));
  const std::vector<TokenId> expected = TRY(tokenizer.encode(comparison_text));
  return expected == TRY(again.encode(comparison_text));
}

}  // namespace

void add_tokenizer_keys(const Tokenizer& tokenizer, std::int64_t vocabulary, Metadata& metadata,
                        std::vector<std::string>& notes) {
  Result<Metadata> written = KeyWriter(tokenizer.description(), vocabulary, metadata).write();
  if (!written.ok()) {
    notes.push_back("no tokenizer is written: " + std::string(written.error().text()));
    return;
  }
  const Result<bool> same = reads_the_same(tokenizer, written.value());
  if (!same.ok()) {
    notes.push_back("no tokenizer is written: " + std::string(same.error().text()));
    return;
  }
  if (!same.value()) {
    notes.push_back(
        "the tokenizer is written, but GGUF cannot say all of it: "
        "some texts become other tokens");
  }
  const std::size_t count = tokenizer.description().tokens.size();
  if (static_cast<std::int64_t>(count) > vocabulary) {
    notes.push_back("the tokenizer has " + std::to_string(count) + " tokens, more than the model's " +
                    std::to_string(vocabulary) + ": other readers may refuse the file");
  }
  metadata = std::move(written).value();
}

}  // namespace ingot
