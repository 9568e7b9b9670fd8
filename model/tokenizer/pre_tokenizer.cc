#include "model/tokenizer/pre_tokenizer.h"

#include <utility>

#include "model/tokenizer/spelled_space.h"
#include "model/tokenizer/well_known_patterns.h"

namespace ingot {

namespace {

// The same pieces over a new text, each changed by `change`.
template <class Change>
PreTokenizedText rewritten(const PreTokenizedText& old, Change change) {
  std::string text;
  std::vector<std::size_t> ends;
  for (std::size_t index = 0; index < old.pieces.size(); ++index) {
    const TextRange& piece = old.pieces[index];
    change(old.text.slice(piece.begin, piece.end), piece.begin, text);
    ends.push_back(text.size());
  }
  PreTokenizedText result{DecodedText(std::move(text)), {}};
  std::size_t code = 0;
  for (std::size_t end : ends) {
    const std::size_t begin = code;
    while (result.text.offsets[code] < end) ++code;
    if (code > begin) result.pieces.push_back({begin, code});
  }
  return result;
}

}  // namespace

Result<PreTokenizer> PreTokenizer::create(std::span<const PreTokenizerStep> steps) {
  PreTokenizer result;
  for (const PreTokenizerStep& step : steps) {
    Stage stage{step, {}};
    if (step.kind == PreTokenizerStep::Kind::split) {
      stage.splitter.push_back(TRY(Splitter::create(step.pattern, step.behavior, step.is_inverted)));
    } else if (step.kind == PreTokenizerStep::Kind::metaspace && step.splits) {
      stage.splitter.push_back(
          TRY(Splitter::create(literal_pattern(step.pattern), SplitBehavior::merged_with_next, false)));
    }
    result.stages_.push_back(std::move(stage));
  }
  return result;
}

PreTokenizedText PreTokenizer::run(std::string text, bool is_first) const {
  PreTokenizedText result{DecodedText(std::move(text)), {}};
  if (!result.text.code_points.empty()) result.pieces.push_back({0, result.text.code_points.size()});
  for (const Stage& stage : stages_) {
    const PreTokenizerStep& step = stage.step;
    if (step.kind == PreTokenizerStep::Kind::prefix_space) {
      result = rewritten(result, [](std::string_view piece, std::size_t, std::string& output) {
        if (!piece.starts_with(' ')) output += ' ';
        output += piece;
      });
    } else if (step.kind == PreTokenizerStep::Kind::metaspace) {
      result = rewritten(result, [&](std::string_view piece, std::size_t begin, std::string& output) {
        const std::string spelled = replaced(piece, " ", step.pattern);
        const bool prepends =
            step.scheme == PrependScheme::always || (step.scheme == PrependScheme::first && is_first && begin == 0);
        if (prepends && !spelled.starts_with(step.pattern)) output += step.pattern;
        output += spelled;
      });
    }
    if (!stage.splitter.empty()) result.pieces = stage.splitter[0].split(result.text.code_points, result.pieces);
  }
  return result;
}

}  // namespace ingot
