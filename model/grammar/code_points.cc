#include "model/grammar/code_points.h"

#include <algorithm>
#include <optional>

namespace ingot::grammar {

namespace {

constexpr CodePoint first_surrogate = 0xd800, last_surrogate = 0xdfff;
constexpr std::string_view hexadecimal = "0123456789abcdef";

// UTF-8 as a tree: under a lead byte are blocks of 64, or of 64 blocks, and so on. Equal blocks are one expression, so
// that large sets (all letters, everything but a quote) stay small.
class Utf8Tree {
 public:
  Utf8Tree(Expressions& expressions, const CodePointSet& set)
      : expressions_(expressions),
        bits_(set.ranges().empty() ? 1
                                   : std::min<std::size_t>(set.ranges().back().last, code_point_limit - 1) / 64 + 1) {
    for (const auto& range : set.ranges()) {
      for (CodePoint code = range.first; code <= range.last && code < code_point_limit;) {
        if (code % 64 == 0 && range.last - code >= 63) {
          bits_[code / 64] = ~std::uint64_t{0};
          code += 64;
        } else {
          bits_[code / 64] |= std::uint64_t{1} << (code % 64);
          ++code;
        }
      }
    }
    for (std::size_t block = first_surrogate / 64; block <= last_surrogate / 64 && block < bits_.size(); ++block) {
      bits_[block] = 0;
    }
  }

  ExpressionId make() {
    ByteSet ascii;
    for (unsigned code = 0; code < 128; ++code) {
      if (code / 64 < bits_.size() && (bits_[code / 64] >> (code % 64) & 1) != 0) ascii.add(code);
    }
    std::vector<ExpressionId> alternatives{expressions_.bytes(ascii)};
    add_leads(0xc2, 0xdf, 0xc0, 0, alternatives);
    add_leads(0xe0, 0xef, 0xe0, 1, alternatives);
    add_leads(0xf0, 0xf4, 0xf0, 2, alternatives);
    return expressions_.alternatives(alternatives);
  }

 private:
  using Branches = std::map<ExpressionId, ByteSet>;  // what follows which bytes

  void add_leads(unsigned first, unsigned last, unsigned base, int level, std::vector<ExpressionId>& alternatives) {
    Branches branches;
    const std::size_t blocks = std::size_t{1} << (6 * level);
    for (unsigned lead = first; lead <= last; ++lead) {
      const std::size_t block = (lead - base) * blocks;
      // Three bytes cannot spell what two can, nor four what three can.
      const std::size_t least = level == 0 ? 2 : level == 1 ? 32 : 1024;
      if (const auto tail = tails(block, level, least)) branches[*tail].add(lead);
    }
    const ExpressionId joined = join(branches);
    alternatives.push_back(joined);
  }

  // Expressions of [block, block + 64^level), or nothing where none of them is in the set.
  std::optional<ExpressionId> tails(std::size_t block, int level, std::size_t least) {
    if (level == 0) {
      if (block < least || block >= bits_.size() || bits_[block] == 0) return std::nullopt;
      const auto [place, is_new] = leaves_.try_emplace(bits_[block], 0);
      if (is_new) {
        ByteSet set;
        for (unsigned tail = 0; tail < 64; ++tail) {
          if ((bits_[block] >> tail & 1) != 0) set.add(0x80 | tail);
        }
        place->second = expressions_.bytes(set);
      }
      return place->second;
    }
    const std::size_t step = std::size_t{1} << (6 * (level - 1));
    if (block >= bits_.size()) return std::nullopt;
    const bool is_whole = block >= least && is_full(block, 64 * step);
    if (is_whole && full_[level]) return full_[level];
    Branches branches;
    for (unsigned tail = 0; tail < 64; ++tail) {
      if (const auto below = tails(block + tail * step, level - 1, least)) branches[*below].add(0x80 | tail);
    }
    if (branches.empty()) return std::nullopt;
    const auto [place, is_new] = made_.try_emplace(branches, 0);
    if (is_new) place->second = join(branches);
    if (is_whole) full_[level] = place->second;
    return place->second;
  }

  bool is_full(std::size_t block, std::size_t count) const {
    if (block + count > bits_.size()) return false;
    for (std::size_t index = block; index < block + count; ++index) {
      if (~bits_[index] != 0) return false;
    }
    return true;
  }

  ExpressionId join(const Branches& branches) {
    std::vector<ExpressionId> alternatives;
    for (const auto& [tail, leads] : branches) {
      alternatives.push_back(expressions_.sequence({expressions_.bytes(leads), tail}));
    }
    return expressions_.alternatives(alternatives);
  }

  Expressions& expressions_;
  std::vector<std::uint64_t> bits_;  // a block each
  std::map<std::uint64_t, ExpressionId> leaves_;
  std::map<Branches, ExpressionId> made_;
  std::array<std::optional<ExpressionId>, 3> full_;  // by level: looked up instead of walked
};

// Short escapes: the letter for the character.
constexpr std::array<std::pair<char, char>, 7> short_escapes{
    {{'"', '"'}, {'\\', '\\'}, {'\b', 'b'}, {'\f', 'f'}, {'\n', 'n'}, {'\r', 'r'}, {'\t', 't'}}};

std::string json_spelling_of(CodePoint code) {
  for (const auto& [character, letter] : short_escapes) {
    if (code == static_cast<std::uint8_t>(character)) return {'\\', letter};
  }
  if (code < 0x20) return std::string("\\u00") + hexadecimal[code >> 4] + hexadecimal[code & 15];
  std::string text;
  append_utf8(text, code);
  return text;
}

CodePointSet needing_escapes() { return CodePointSet({{0, 0x1f}, {'"', '"'}, {'\\', '\\'}}); }

ByteSet hexadecimal_digits(std::string_view digits) {
  ByteSet set;
  for (const char digit : digits) set.add(static_cast<std::uint8_t>(digit));
  return set;
}

}  // namespace

ExpressionId one_character(Expressions& expressions, const CodePointSet& set, Spelling spelling) {
  if (spelling == Spelling::plain) return Utf8Tree(expressions, set).make();
  const CodePointSet escaped = set.intersected(needing_escapes());
  std::vector<ExpressionId> alternatives{Utf8Tree(expressions, set.intersected(needing_escapes().complement())).make()};
  for (const auto& range : escaped.ranges()) {
    for (CodePoint code = range.first; code <= range.last; ++code) {
      alternatives.push_back(expressions.text(json_spelling_of(code)));
    }
  }
  return expressions.alternatives(alternatives);
}

ExpressionId any_json_character(Expressions& expressions) {
  const auto digits = [&](std::string_view set) { return expressions.bytes(hexadecimal_digits(set)); };
  constexpr std::string_view any = "0123456789abcdefABCDEF";
  const ExpressionId digit = digits(any);
  const ExpressionId low_pair = expressions.sequence({digits("dD"), digits("cdefCDEF"), digit, digit});
  const ExpressionId high_pair = expressions.sequence({digits("dD"), digits("89abAB"), digit, digit});
  const ExpressionId alone =
      expressions.alternatives({expressions.sequence({digits("0123456789abcefABCEF"), digit, digit, digit}),
                                expressions.sequence({digits("dD"), digits("01234567"), digit, digit})});
  const ExpressionId pair = expressions.sequence({high_pair, expressions.text("\\u"), low_pair});
  const ExpressionId code = expressions.sequence({expressions.text("u"), expressions.alternatives({alone, pair})});
  const ExpressionId letter = expressions.bytes(hexadecimal_digits("\"\\/bfnrt"));
  return expressions.alternatives(
      {Utf8Tree(expressions, needing_escapes().complement()).make(),
       expressions.sequence({expressions.text("\\"), expressions.alternatives({letter, code})})});
}

std::string json_spelling(std::string_view text) {
  std::string spelled;
  for (std::size_t position = 0; position < text.size();) {
    const DecodedCharacter character = decode_utf8(text, position);
    position += character.size;
    spelled += json_spelling_of(character.code);
  }
  return spelled;
}

}  // namespace ingot::grammar
