// A grammar, compiled: a pushdown automaton over bytes. Positions are linked by bytes that are read and by nothing;
// calls of rules and counted repetitions push a frame, and the end of what they called takes it away.
//
//   auto grammar = TRY(compile_gbnf("root ::= \"yes\" | \"no\""));
//   GrammarState state(grammar);
//   state.accept("ye");
//
// A Grammar never changes and may be used by many threads at once.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "model/grammar/budget.h"
#include "model/grammar/byte_set.h"
#include "model/grammar/expression.h"

namespace ingot::grammar {

using PositionId = std::uint32_t;

struct Position {
  enum class Kind : std::uint8_t {
    end,    // of a rule, or of one round of a repetition
    bytes,  // reads a byte of sets()[first], goes on at second
    split,  // goes on at second places, listed from first
    call,   // of the rule that begins at first, then goes on at second
    loop,   // loops()[first], then goes on at second
  };

  Kind kind = Kind::end;
  // Whether anything leads from here to the end: where nothing does, nobody goes.
  bool is_alive = false;
  std::uint32_t first = 0, second = 0;
};

// A round reads a byte at least, so a text has no more of them than bytes.
struct Loop {
  PositionId body;
  std::uint32_t least, most;
};

class Grammar {
 public:
  static constexpr PositionId end = 0;  // one for all rules and rounds: what follows is in the frame

  const Position& operator[](PositionId position) const { return positions_[position]; }
  PositionId begin() const { return begin_; }
  const ByteSet& set(const Position& position) const { return sets_[position.first]; }
  std::span<const PositionId> branches(const Position& position) const {
    return std::span(branches_).subspan(position.first, position.second);
  }
  const Loop& loop(const Position& position) const { return loops_[position.first]; }

  // Bytes that no position tells apart are of one class.
  std::uint32_t class_count() const { return static_cast<std::uint32_t>(representatives_.size()); }
  std::uint32_t class_of(std::uint8_t byte) const { return classes_[byte]; }
  std::uint8_t representative(std::uint32_t byte_class) const { return representatives_[byte_class]; }

  std::size_t position_count() const { return positions_.size(); }
  std::size_t size_in_bytes() const;

 private:
  friend class GrammarBuilder;
  Grammar() = default;

  std::vector<Position> positions_;
  std::vector<PositionId> branches_;
  std::vector<ByteSet> sets_;
  std::vector<Loop> loops_;
  PositionId begin_ = end;
  std::array<std::uint8_t, 256> classes_{};
  std::vector<std::uint8_t> representatives_;
};

// Errors: a rule that calls itself before it has read a byte, a grammar that nothing satisfies, the budget.
Result<std::shared_ptr<const Grammar>> compile(Expressions& expressions, ExpressionId root);

}  // namespace ingot::grammar
