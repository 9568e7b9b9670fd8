#include "model/tokenizer/pattern.h"

#include <utility>

#include "model/files/quoted.h"

namespace ingot {

namespace {

using Kind = PatternNode::Kind;

constexpr std::size_t longest_text = 1 << 14;
constexpr std::size_t longest_program = 4096;
// A row of the table of failures has one bit a choice, and there is a row for each code point of the text.
constexpr std::uint32_t most_choices = 256;

bool may_match_nothing(const PatternNode& node) {
  switch (node.kind) {
    case Kind::one_of: return false;
    case Kind::sequence:
      for (const PatternNode& child : node.children) {
        if (!may_match_nothing(child)) return false;
      }
      return true;
    case Kind::alternatives:
      for (const PatternNode& child : node.children) {
        if (may_match_nothing(child)) return true;
      }
      return false;
    case Kind::repeat: return node.least == 0 || may_match_nothing(node.children[0]);
    case Kind::look_ahead:
    case Kind::assertion: return true;
  }
  return true;
}

}  // namespace

class PatternCompiler {
 public:
  explicit PatternCompiler(std::string_view text) : text_(text) {}

  Result<Pattern> compile() {
    if (text_.size() > longest_text) {
      return Error::of(ErrorCode::unsupported, "pattern: expected at most ", longest_text, " bytes, found ",
                       text_.size());
    }
    const PatternNode tree = TRY(parse_pattern(text_));
    TRY(emit(tree));
    append({.opcode = Pattern::Opcode::accept});
    if (pattern_.choices_ > most_choices) return fail("at most 256 choices");
    find_beginnings();
    return std::move(pattern_);
  }

 private:
  using Opcode = Pattern::Opcode;
  using Instruction = Pattern::Instruction;

  Error fail(std::string_view expected) const {
    return Error::of(ErrorCode::unsupported, "pattern ", Quoted{text_}, ": expected ", expected);
  }
  std::uint32_t here() const { return static_cast<std::uint32_t>(pattern_.program_.size()); }
  std::uint32_t append(Instruction instruction) {
    pattern_.program_.push_back(instruction);
    return here() - 1;
  }
  std::uint32_t add_set(const CodePointSet& set) {
    pattern_.sets_.push_back(set);
    return static_cast<std::uint32_t>(pattern_.sets_.size() - 1);
  }
  std::uint32_t append_split() { return append({.opcode = Opcode::split, .choice = pattern_.choices_++}); }

  Result<void> emit(const PatternNode& node) {
    if (pattern_.program_.size() > longest_program) return fail("a pattern of at most 4096 instructions");
    switch (node.kind) {
      case Kind::one_of: append({.opcode = Opcode::one_of, .index = add_set(node.set)}); return {};
      case Kind::assertion: append({.opcode = Opcode::assertion, .assertion = node.assertion}); return {};
      case Kind::sequence:
        for (const PatternNode& child : node.children) TRY(emit(child));
        return {};
      case Kind::alternatives: return emit_alternatives(node);
      case Kind::repeat: return node.children[0].kind == Kind::one_of ? emit_stretch(node) : emit_repeat(node);
      case Kind::look_ahead: return emit_look_ahead(node);
    }
    return {};
  }

  Result<void> emit_alternatives(const PatternNode& node) {
    std::vector<std::uint32_t> jumps;
    for (std::size_t index = 0; index + 1 < node.children.size(); ++index) {
      const std::uint32_t split = append_split();
      pattern_.program_[split].index = here();
      TRY(emit(node.children[index]));
      jumps.push_back(append({.opcode = Opcode::jump}));
      pattern_.program_[split].second = here();
    }
    TRY(emit(node.children.back()));
    for (std::uint32_t jump : jumps) pattern_.program_[jump].index = here();
    return {};
  }

  Result<void> emit_stretch(const PatternNode& node) {
    append({.opcode = Opcode::stretch,
            .is_possessive = node.is_possessive,
            .index = add_set(node.children[0].set),
            .least = node.least,
            .most = node.most,
            .choice = pattern_.choices_++});
    return {};
  }

  Result<void> emit_repeat(const PatternNode& node) {
    const PatternNode& body = node.children[0];
    if (may_match_nothing(body)) return fail("no repetition of what may match nothing");
    for (std::uint32_t count = 0; count < node.least; ++count) TRY(emit(body));
    if (node.most == PatternNode::unbounded) {
      const std::uint32_t split = append_split();
      pattern_.program_[split].index = here();
      TRY(emit(body));
      append({.opcode = Opcode::jump, .index = split});
      pattern_.program_[split].second = here();
      return {};
    }
    std::vector<std::uint32_t> splits;
    for (std::uint32_t count = node.least; count < node.most; ++count) {
      splits.push_back(append_split());
      pattern_.program_[splits.back()].index = here();
      TRY(emit(body));
    }
    for (std::uint32_t split : splits) pattern_.program_[split].second = here();
    return {};
  }

  // Only a fixed number of sets: then looking ahead takes constant time at every position.
  Result<void> emit_look_ahead(const PatternNode& node) {
    const PatternNode& body = node.children[0];
    std::vector<Pattern::SetSequence> alternatives;
    const std::span<const PatternNode> sequences =
        body.kind == Kind::alternatives ? std::span(body.children) : std::span(&body, 1);
    for (const PatternNode& sequence : sequences) {
      Pattern::SetSequence sets;
      for (const PatternNode& item : sequence.children) {
        if (item.kind != Kind::one_of) return fail("single classes inside (?= ) and (?! )");
        sets.push_back(add_set(item.set));
      }
      alternatives.push_back(std::move(sets));
    }
    append({.opcode = Opcode::look_ahead,
            .is_negated = node.is_negated,
            .index = static_cast<std::uint32_t>(pattern_.look_aheads_.size())});
    pattern_.look_aheads_.push_back(std::move(alternatives));
    return {};
  }

  void find_beginnings() {
    pattern_.beginnings_.resize(pattern_.choices_);
    for (const Instruction& step : pattern_.program_) {
      if (step.opcode != Opcode::split) continue;
      std::vector<bool> is_seen(pattern_.program_.size());
      add_beginnings(step.index, is_seen, pattern_.beginnings_[step.choice].first);
      is_seen.assign(pattern_.program_.size(), false);
      add_beginnings(step.second, is_seen, pattern_.beginnings_[step.choice].second);
    }
  }

  void add_beginnings(std::uint32_t from, std::vector<bool>& is_seen, CodePointSet::Ascii& beginnings) const {
    std::vector<std::uint32_t> pending{from};
    const auto add = [&](const CodePointSet::Ascii& ascii) {
      beginnings[0] |= ascii[0];
      beginnings[1] |= ascii[1];
    };
    while (!pending.empty()) {
      const std::uint32_t index = pending.back();
      pending.pop_back();
      if (is_seen[index]) continue;
      is_seen[index] = true;
      const Instruction& step = pattern_.program_[index];
      switch (step.opcode) {
        case Opcode::one_of: add(pattern_.sets_[step.index].ascii()); break;
        case Opcode::stretch:
          add(pattern_.sets_[step.index].ascii());
          if (step.least == 0) pending.push_back(index + 1);
          break;
        case Opcode::split: pending.push_back(step.second); [[fallthrough]];
        case Opcode::jump: pending.push_back(step.index); break;
        case Opcode::look_ahead:
        case Opcode::assertion:
        case Opcode::accept: beginnings.fill(~std::uint64_t{0}); return;
      }
    }
  }

  std::string_view text_;
  Pattern pattern_;
};

Result<Pattern> Pattern::compile(std::string_view text) { return PatternCompiler(text).compile(); }

}  // namespace ingot
