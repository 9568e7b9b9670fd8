#include "model/calls/raw_text.h"

#include <algorithm>

#include "base/utf8.h"
#include "model/grammar/code_points.h"
#include "model/grammar/determinize.h"
#include "model/grammar/grammar.h"
#include "model/grammar/regular_expression.h"
#include "model/grammar/schema/formats.h"

namespace ingot::calls {

using grammar::ExpressionId;
using grammar::Expressions;
using grammar::FiniteAutomaton;

namespace {

// Counted characters are as many states. Beyond that they are counted by the grammar, without the mark's first byte.
constexpr std::uint32_t most_counted_states = 2000;

// Where the search for the mark stands after one more byte: the classical failure function, by trying.
std::uint32_t matched_after(std::string_view mark, std::size_t matched, char byte) {
  std::string text(mark.substr(0, matched));
  text += byte;
  std::size_t size = std::min(text.size(), mark.size());
  while (size > 0 && !std::string_view(text).ends_with(mark.substr(0, size))) --size;
  return static_cast<std::uint32_t>(size);
}

// The states of a character of several bytes, behind those of the search.
enum Tail : std::uint32_t { one_more, two_more, three_more, after_e0, after_ed, after_f0, after_f4, tail_count };

void add_tails(FiniteAutomaton& automaton, std::uint32_t first) {
  const auto add = [&](std::uint8_t from, std::uint8_t to, std::uint32_t target) {
    const FiniteAutomaton::Edge edge = {from, to, target};
    automaton.add_state({&edge, 1}, false);
  };
  add(0x80, 0xbf, 0);
  add(0x80, 0xbf, first + one_more);
  add(0x80, 0xbf, first + two_more);
  add(0xa0, 0xbf, first + one_more);
  add(0x80, 0x9f, first + one_more);
  add(0x90, 0xbf, first + two_more);
  add(0x80, 0x8f, first + two_more);
}

// Texts that the mark is not in. Precondition: the mark is ASCII, so that any other character begins the search anew.
FiniteAutomaton texts_without(std::string_view mark) {
  const auto tails = static_cast<std::uint32_t>(mark.size());
  FiniteAutomaton automaton;
  for (std::size_t matched = 0; matched < mark.size(); ++matched) {
    std::vector<FiniteAutomaton::Edge> edges;
    for (unsigned byte = '\t'; byte < 0x7f; ++byte) {
      if (byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r') continue;
      const std::uint32_t target = matched_after(mark, matched, static_cast<char>(byte));
      if (target == mark.size()) continue;
      const auto symbol = static_cast<std::uint8_t>(byte);
      if (!edges.empty() && edges.back().target == target && edges.back().last + 1 == symbol) {
        edges.back().last = symbol;
      } else {
        edges.push_back({symbol, symbol, target});
      }
    }
    edges.push_back({0xc2, 0xdf, tails + one_more});
    edges.push_back({0xe0, 0xe0, tails + after_e0});
    edges.push_back({0xe1, 0xec, tails + two_more});
    edges.push_back({0xed, 0xed, tails + after_ed});
    edges.push_back({0xee, 0xef, tails + two_more});
    edges.push_back({0xf0, 0xf0, tails + after_f0});
    edges.push_back({0xf1, 0xf3, tails + three_more});
    edges.push_back({0xf4, 0xf4, tails + after_f4});
    automaton.add_state(edges, true);
  }
  add_tails(automaton, tails);
  return automaton;
}

Result<FiniteAutomaton> automaton_from(Expressions& expressions, ExpressionId id) {
  auto compiled = compile(expressions, id);
  if (!compiled.ok() && compiled.error().code() == ErrorCode::invalid_argument) return FiniteAutomaton();
  return determinize(TRY(std::move(compiled)), expressions.budget());
}

Result<ExpressionId> raw_pattern(Expressions& expressions, const grammar::TextLimits::Pattern& pattern) {
  using grammar::Matching;
  using grammar::Spelling;
  const std::string format = pattern.is_format ? grammar::pattern_of_format(pattern.text) : std::string();
  if (pattern.is_format && format.empty()) {
    return grammar::error_at({nullptr, pattern.pointer}, "format", "a format that is known");
  }
  auto read = pattern.is_format
                  ? read_regular_expression(expressions, format, Matching::whole, Spelling::plain)
                  : read_regular_expression(expressions, pattern.text, Matching::anywhere, Spelling::plain);
  if (!read.ok()) return read.error().within("schema, 'pattern' at '", pattern.pointer.text(), "'");
  return read;
}

Result<void> expect_ascii(std::string_view mark) {
  // By code: where a plain char has no sign, no byte is below zero.
  const auto is_ascii = [](unsigned char code) { return code > 0 && code < 0x80; };
  if (!mark.empty() && std::ranges::all_of(mark, is_ascii)) return {};
  return Error::of(ErrorCode::unsupported, "expected a format whose marks at the end of texts are ASCII, found '", mark,
                   "'");
}

Result<FiniteAutomaton> raw_language(const RawText& raw, grammar::Budget& budget) {
  TRY(expect_ascii(raw.mark));
  FiniteAutomaton language = texts_without(raw.mark);
  if (raw.other.empty()) return language;
  TRY(expect_ascii(raw.other));
  return intersect(language, texts_without(raw.other), budget);
}

// Counted by the grammar itself.
ExpressionId long_text(Expressions& expressions, const grammar::TextLimits& limits, const RawText& raw) {
  CodePointSet left_out({{0, 0x1f}, {0x7f, 0x9f}});
  for (const std::string_view mark : {raw.mark, raw.other}) {
    if (mark.empty()) continue;
    const CodePoint first = decode_utf8(mark, 0).code;
    left_out = left_out.united(CodePointSet({{first, first}}));
  }
  const ExpressionId character = one_character(expressions, left_out.complement(), grammar::Spelling::plain);
  return expressions.sequence({expressions.repeat(character, limits.least, limits.most), expressions.text(raw.end)});
}

}  // namespace

Result<ExpressionId> raw_text(Expressions& expressions, const RawText& raw) {
  FiniteAutomaton language = TRY(raw_language(raw, expressions.budget()));
  return expressions.sequence({expressions.automaton(std::move(language)), expressions.text(raw.end)});
}

Result<ExpressionId> bounded_raw_text(Expressions& expressions, const grammar::Shape& shape, const RawText& raw) {
  const grammar::TextLimits& limits = shape.text;
  if (limits.is_plain() && !shape.values) return raw_text(expressions, raw);
  if (limits.least > limits.most) return expressions.never();
  grammar::Budget& budget = expressions.budget();
  FiniteAutomaton language = TRY(raw_language(raw, budget));
  const bool is_bounded = limits.most != grammar::unbounded;
  const std::uint32_t bound = is_bounded ? limits.most : limits.least;
  if (bound > most_counted_states && limits.patterns.empty() && limits.excluded.empty() && !shape.values) {
    return long_text(expressions, limits, raw);
  }
  Expressions parts(budget);
  if (is_bounded || limits.least > 0) {
    const ExpressionId character = one_character(parts, CodePointSet::all(), grammar::Spelling::plain);
    const ExpressionId counted = parts.repeat(character, limits.least, limits.most);
    const FiniteAutomaton length = TRY(automaton_from(parts, counted));
    language = TRY(intersect(language, length, budget));
  }
  for (const auto& pattern : limits.patterns) {
    const ExpressionId matching = TRY(raw_pattern(parts, pattern));
    const FiniteAutomaton matched = TRY(automaton_from(parts, matching));
    language = TRY(pattern.is_negated ? subtract(language, matched, budget) : intersect(language, matched, budget));
  }
  if (!limits.excluded.empty()) {
    const FiniteAutomaton excluded = TRY(accept_texts({limits.excluded.begin(), limits.excluded.end()}, budget));
    language = TRY(subtract(language, excluded, budget));
  }
  if (shape.values) {
    std::vector<std::string_view> texts;
    for (const chat::Value& value : *shape.values) {
      if (value.is_text()) texts.push_back(value.bytes());
    }
    const FiniteAutomaton listed = TRY(accept_texts(std::move(texts), budget));
    language = TRY(intersect(language, listed, budget));
  }
  return expressions.sequence({expressions.automaton(std::move(language)), expressions.text(raw.end)});
}

}  // namespace ingot::calls
