#include "train/tokenizer/train_tokenizer.h"

#include <optional>
#include <set>

#include "base/utf8.h"
#include "model/files/quoted.h"
#include "model/tokenizer/byte_alphabet.h"
#include "model/tokenizer/gguf_pre_tokenizer.h"
#include "train/data/text_file.h"
#include "train/tokenizer/learn_merges.h"

namespace ingot {

namespace {

constexpr std::int64_t most_tokens = std::int64_t{1} << 24;
constexpr std::size_t longest_special_token = 256;

Result<void> check_special_tokens(std::span<const std::string> tokens) {
  std::set<std::string_view> seen;
  for (std::size_t index = 0; index < tokens.size(); ++index) {
    const std::string& text = tokens[index];
    const auto wrong = [&](std::string_view expected) {
      return Error::of(ErrorCode::invalid_argument, "special token ", index + 1, ": expected ", expected, ", found ",
                       Quoted{text});
    };
    if (text.empty()) return wrong("a text");
    if (text.size() > longest_special_token) return wrong("at most 256 bytes");
    if (find_invalid_utf8(text) < text.size()) return wrong("UTF-8");
    const std::optional<std::string> bytes = bytes_of_spelled(text);
    if (bytes.has_value() && bytes->size() == 1) return wrong("a text that is not spelled like one of the 256 bytes");
    if (!seen.insert(text).second) return wrong("each one once");
  }
  return {};
}

Result<const GgufPreTokenizer*> find_byte_pattern(std::string_view name) {
  const Result<const GgufPreTokenizer*> found = find_gguf_pre_tokenizer(name);
  if (found.ok() && !found.value()->spells_characters) return found.value();
  return Error::of(ErrorCode::invalid_argument,
                   "pattern: expected GGUF's name of a pre-tokenizer of bytes, such as llama3, gpt-2 or qwen2, found ",
                   Quoted{name});
}

TokenizerDescription described(const LearnedMerges& learned, const TokenizerTraining& training,
                               const GgufPreTokenizer& pre_tokenizer) {
  TokenizerDescription description;
  description.is_byte_level = true;
  description.ignores_merges = pre_tokenizer.ignores_merges;
  for (std::string_view pattern : pre_tokenizer.patterns) {
    description.pre_tokenizer.push_back({.pattern = std::string(pattern)});
  }
  for (const std::string& bytes : learned.tokens) description.tokens.push_back(spelled_bytes(bytes));
  for (const LearnedMerge& merge : learned.merges) {
    description.merges.push_back({description.tokens[static_cast<std::size_t>(merge.left)],
                                  description.tokens[static_cast<std::size_t>(merge.right)]});
  }
  description.types.assign(description.tokens.size(), TokenType::normal);
  for (const std::string& text : training.special_tokens) {
    const auto id = static_cast<TokenId>(description.tokens.size());
    description.tokens.push_back(text);
    description.types.push_back(TokenType::control);
    description.added_tokens.push_back({.id = id, .text = text});
    // What ends one document also stands before the next.
    if (description.eos == no_token) description.bos = description.eos = id;
  }
  complete_special_tokens(description);
  return description;
}

}  // namespace

Result<void> check_training(const TokenizerTraining& training) {
  TRY(check_special_tokens(training.special_tokens));
  TRY(find_byte_pattern(training.pattern));
  const auto least = static_cast<std::int64_t>(256 + training.special_tokens.size());
  if (training.vocabulary < least || training.vocabulary > most_tokens) {
    return Error::of(ErrorCode::invalid_argument, "vocabulary: expected ", least, " (256 bytes and ",
                     training.special_tokens.size(), " special tokens) to ", most_tokens, " tokens, found ",
                     training.vocabulary);
  }
  return {};
}

Result<TrainedTokenizer> train_tokenizer(std::span<const std::string_view> texts, const TokenizerTraining& training,
                                         const TrainingProgress& progress) {
  TRY(check_training(training));
  const GgufPreTokenizer& pre_tokenizer = *TRY(find_byte_pattern(training.pattern));
  TrainedTokenizer result;
  std::uint64_t total = 0;
  for (std::string_view text : texts) total += text.size();
  WordCounter counter = TRY(WordCounter::create(pre_tokenizer.patterns, training.special_tokens));
  for (std::string_view text : texts) {
    TRY(counter.add(text, [&](std::uint64_t done) {
      if (progress) progress(TrainingPhase::counting, result.bytes + done, total);
    }));
    result.bytes += text.size();
    result.characters += count_characters(text);
  }
  if (counter.words().empty()) {
    return Error::of(ErrorCode::invalid_argument, "text: expected words to learn from, found none in ", total,
                     " bytes");
  }
  for (const WordCount& word : counter.words()) result.words += word.count;
  result.distinct_words = counter.words().size();

  MergeLimits limits{.tokens = static_cast<std::size_t>(training.vocabulary) - training.special_tokens.size()};
  // A token that is spelled like a special one could not be told from it.
  for (const std::string& text : training.special_tokens) {
    if (std::optional<std::string> bytes = bytes_of_spelled(text); bytes.has_value()) {
      limits.kept_out.push_back(std::move(*bytes));
    }
  }
  const LearnedMerges learned = TRY(learn_merges(counter.words(), limits, [&](std::uint64_t tokens) {
    if (progress) progress(TrainingPhase::merging, tokens, limits.tokens);
  }));
  result.tokens = learned.text_tokens + counter.special_count();
  result.description = described(learned, training, pre_tokenizer);
  return result;
}

}  // namespace ingot
