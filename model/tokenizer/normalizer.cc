#include "model/tokenizer/normalizer.h"

#include <utility>

#include "model/tokenizer/decoded_text.h"
#include "model/tokenizer/spelled_space.h"
#include "model/unicode/letter_case.h"
#include "model/unicode/properties.h"

namespace ingot {

namespace {

using Kind = NormalizerStep::Kind;

constexpr std::size_t longest_content = 1024;

// What `change` makes of each code point; bytes that are no UTF-8 reach it as U+FFFD.
template <class Change>
std::string mapped(std::string_view text, Change change) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t position = 0; position < text.size();) {
    const DecodedCharacter character = decode_utf8(text, position);
    change(character.code, result);
    position += character.size;
  }
  return result;
}

void append_lowercase(CodePoint code, std::string& output) {
  append_utf8(output, lowercase_of(code == 0x130 ? 'i' : code));
  if (code == 0x130) append_utf8(output, 0x307);
}

std::string lowercased(std::string_view text) { return mapped(text, append_lowercase); }

std::string without(std::uint32_t category_bits, std::string_view text) {
  return mapped(text, [&](CodePoint code, std::string& output) {
    if (!has_category(code, category_bits)) append_utf8(output, code);
  });
}

bool is_chinese(CodePoint code) {
  static constexpr unicode_tables::CodePointRange blocks[] = {
      {0x3400, 0x4dbf},   {0x4e00, 0x9fff},   {0xf900, 0xfaff},   {0x20000, 0x2a6df},
      {0x2a700, 0x2b73f}, {0x2b740, 0x2b81f}, {0x2b920, 0x2ceaf},  // as published: BERT's own list begins at 2b820
      {0x2f800, 0x2fa1f}};
  return is_in(blocks, code);
}

std::string bert_normalized(const NormalizerStep& step, std::string text) {
  if (step.cleans) {
    text = mapped(text, [](CodePoint code, std::string& output) {
      constexpr std::uint32_t left_out = bit_of(Category::cc) | bit_of(Category::cf) | bit_of(Category::co);
      const bool is_kept_space = code == '\t' || code == '\n' || code == '\r';
      if (!is_kept_space && (code == replacement_character || has_category(code, left_out))) return;
      append_utf8(output, is_white_space(code) ? ' ' : code);
    });
  }
  if (step.isolates_chinese) {
    text = mapped(text, [](CodePoint code, std::string& output) {
      if (!is_chinese(code)) return append_utf8(output, code);
      output += ' ';
      append_utf8(output, code);
      output += ' ';
    });
  }
  if (step.strips_accents) text = without(bit_of(Category::mn), normalized(text, NormalizationForm::nfd));
  if (step.lowercases) text = lowercased(text);
  return text;
}

std::string pattern_replaced(const Pattern& pattern, std::string text, std::string_view content) {
  const DecodedText decoded(std::move(text));
  std::vector<TextRange> matches;
  Pattern::Scratch scratch;
  pattern.find_all(decoded.code_points, matches, scratch);
  std::string result;
  std::size_t done = 0;
  for (const TextRange& match : matches) {
    result += decoded.slice(done, match.begin);
    result += content;
    done = match.end;
  }
  result += decoded.slice(done, decoded.code_points.size());
  return result;
}

std::string stripped(const NormalizerStep& step, std::string text) {
  const DecodedText decoded(std::move(text));
  std::size_t begin = 0;
  std::size_t end = decoded.code_points.size();
  while (step.is_left && begin < end && is_white_space(decoded.code_points[begin])) ++begin;
  while (step.is_right && end > begin && is_white_space(decoded.code_points[end - 1])) --end;
  return std::string(decoded.slice(begin, end));
}

std::string nmt_normalized(std::string_view text) {
  return mapped(text, [](CodePoint code, std::string& output) {
    const bool is_dropped = (code >= 1 && code <= 8) || code == 0xb || (code >= 0xe && code <= 0x1f) || code == 0x7f ||
                            code == 0x8f || code == 0x9f;
    const bool is_space = code == 9 || code == 0xa || code == 0xc || code == 0xd || code == 0x1680 ||
                          (code >= 0x200b && code <= 0x200f) || code == 0x2028 || code == 0x2029 || code == 0x2581 ||
                          code == 0xfeff || code == 0xfffd;
    if (is_dropped) return;
    append_utf8(output, is_space ? ' ' : code);
  });
}

std::string sentence_piece_spaced(const NormalizerStep& step, std::string_view text) {
  std::string result;
  bool is_begin = true;
  bool has_pending_space = step.is_left;
  for (char character : text) {
    if (character == ' ' && step.is_right) {
      has_pending_space = has_pending_space || !is_begin;
      continue;
    }
    if (has_pending_space) result += spelled_space;
    has_pending_space = is_begin = false;
    if (character == ' ') {
      result += spelled_space;
    } else {
      result += character;
    }
  }
  return result;
}

}  // namespace

Result<Normalizer> Normalizer::create(std::span<const NormalizerStep> steps) {
  Normalizer result;
  for (const NormalizerStep& step : steps) {
    Stage stage{step, std::nullopt, std::nullopt};
    if (step.kind == Kind::character_map) {
      stage.map = TRY(CharacterMap::create(step.content));
      stage.step.content.clear();
    } else if (step.content.size() > longest_content) {
      return Error::of(ErrorCode::unsupported, "normalizer: expected a replacement of at most ", longest_content,
                       " bytes, found ", step.content.size());
    }
    if (step.kind == Kind::replace_pattern) stage.pattern = TRY(Pattern::compile(step.pattern));
    if (step.kind == Kind::replace && step.pattern.empty()) {
      return Error::of(ErrorCode::invalid_argument, "normalizer: expected a text to replace, found none");
    }
    result.stages_.push_back(std::move(stage));
  }
  return result;
}

std::string Normalizer::run(std::string text) const {
  for (const Stage& stage : stages_) text = apply(stage, std::move(text));
  return text;
}

std::string Normalizer::apply(const Stage& stage, std::string text) {
  const NormalizerStep& step = stage.step;
  switch (step.kind) {
    case Kind::unicode_form: return normalized(text, step.form);
    case Kind::lowercase: return lowercased(text);
    case Kind::strip_accents: return without(mark_bits, text);
    case Kind::bert: return bert_normalized(step, std::move(text));
    case Kind::prepend: return text.empty() ? text : step.content + text;
    case Kind::replace: return replaced(text, step.pattern, step.content);
    case Kind::replace_pattern: return pattern_replaced(*stage.pattern, std::move(text), step.content);
    case Kind::strip: return stripped(step, std::move(text));
    case Kind::character_map: return stage.map->apply(text);
    case Kind::nmt: return nmt_normalized(text);
    case Kind::sentence_piece_spaces: return sentence_piece_spaced(step, text);
  }
  return text;
}

}  // namespace ingot
