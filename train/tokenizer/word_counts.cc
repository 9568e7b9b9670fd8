#include "train/tokenizer/word_counts.h"

#include <limits>
#include <utility>

#include "train/data/text_pieces.h"

namespace ingot {

Result<WordCounter> WordCounter::create(std::span<const std::string_view> patterns,
                                        std::span<const std::string> special_tokens) {
  WordCounter counter;
  std::vector<PreTokenizerStep> steps;
  for (std::string_view pattern : patterns) steps.push_back({.pattern = std::string(pattern)});
  counter.pre_tokenizer_ = TRY(PreTokenizer::create(steps));
  if (special_tokens.empty()) return counter;
  counter.separator_ = special_tokens[0];
  std::vector<AddedToken> others;
  for (const std::string& text : special_tokens.subspan(1)) others.push_back({.id = 0, .text = text});
  counter.other_special_ = TRY(AddedTokens::create(std::move(others)));
  return counter;
}

Result<void> WordCounter::add(std::string_view text, const std::function<void(std::uint64_t)>& progress) {
  TextPieces pieces(text, separator_);
  while (const std::optional<TextPiece> piece = pieces.next()) {
    TRY(add_piece(piece->text));
    if (piece->ends_document && !separator_.empty()) ++special_count_;
    if (progress) progress(pieces.position());
  }
  return {};
}

Result<void> WordCounter::add_piece(std::string_view piece) {
  constexpr auto most = static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max());
  for (const AddedTokens::Part& part : other_special_.split(piece, {.is_on = true})) {
    if (part.id != no_token) {
      ++special_count_;
      continue;
    }
    const PreTokenizedText split = pre_tokenizer_.run(std::string(part.text), /*is_first=*/false);
    for (const TextRange& range : split.pieces) {
      // Splits change no byte, so that offsets in the copy are offsets in the text, which stays.
      const std::uint32_t begin = split.text.offsets[range.begin];
      const std::string_view word = part.text.substr(begin, split.text.offsets[range.end] - begin);
      if (words_.size() == most) {
        return Error::of(ErrorCode::overflow, "text: expected at most ", most, " distinct words, found more");
      }
      const auto index = static_cast<std::size_t>(indices_.insert(word, static_cast<std::int32_t>(words_.size())));
      if (index == words_.size()) words_.push_back({word, 0});
      ++words_[index].count;
    }
  }
  return {};
}

}  // namespace ingot
