// From expressions to positions. An expression is built for what follows it, so that the end of one is the beginning of
// the next and no position is there for joining them.
#include <algorithm>
#include <map>
#include <optional>

#include "model/files/quoted.h"
#include "model/grammar/grammar.h"
#include "model/grammar/nullability.h"
#include "model/grammar/stacks.h"

namespace ingot::grammar {

// A repetition of so few rounds of a single byte, text or call is written out: its positions take no frame.
constexpr std::uint32_t most_unrolled = 4;

class GrammarBuilder {
 public:
  GrammarBuilder(Expressions& expressions, Nullability nullability)
      : expressions_(expressions), budget_(expressions.budget()), nullability_(std::move(nullability)) {
    grammar_.positions_.push_back({.kind = Position::Kind::end, .is_alive = true});
  }

  Result<std::shared_ptr<const Grammar>> build_from(ExpressionId root) {
    grammar_.begin_ = TRY(build(root, Grammar::end));
    // Rules are built as they are met: what nobody calls takes no room.
    for (std::size_t index = 0; index < called_.size(); ++index) {
      starts_[called_[index]] = TRY(build(expressions_.body_of(called_[index]), Grammar::end));
    }
    for (Position& position : grammar_.positions_) {
      if (position.kind != Position::Kind::call) continue;
      callees_.push_back(position.first);
      position.first = starts_.at(position.first);
    }
    TRY(expressions_.check());
    TRY(find_living());
    if (!grammar_.positions_[grammar_.begin_].is_alive) {
      return Error::of(ErrorCode::invalid_argument,
                       "expected a grammar that some text satisfies, found none that does");
    }
    TRY(refuse_left_recursion());
    TRY(find_classes());
    return std::shared_ptr<const Grammar>(new Grammar(std::move(grammar_)));
  }

 private:
  Result<PositionId> add(Position::Kind kind, std::uint32_t first, std::uint32_t second) {
    TRY(budget_.spend(sizeof(Position)));
    grammar_.positions_.push_back({.kind = kind, .first = first, .second = second});
    return static_cast<PositionId>(grammar_.positions_.size() - 1);
  }

  Result<PositionId> add_bytes(const ByteSet& set, PositionId next) {
    const auto [place, is_new] = set_places_.try_emplace(set, static_cast<std::uint32_t>(grammar_.sets_.size()));
    if (is_new) {
      TRY(budget_.spend(3 * sizeof(ByteSet)));
      grammar_.sets_.push_back(set);
    }
    return add(Position::Kind::bytes, place->second, next);
  }

  Result<void> set_branches(PositionId split, std::span<const PositionId> branches) {
    TRY(budget_.spend(branches.size_bytes()));
    Position& position = grammar_.positions_[split];
    position.first = static_cast<std::uint32_t>(grammar_.branches_.size());
    position.second = static_cast<std::uint32_t>(branches.size());
    grammar_.branches_.insert(grammar_.branches_.end(), branches.begin(), branches.end());
    return {};
  }

  Result<PositionId> add_split(std::span<const PositionId> branches) {
    const PositionId split = TRY(add(Position::Kind::split, 0, 0));
    TRY(set_branches(split, branches));
    return split;
  }

  Result<PositionId> build(ExpressionId id, PositionId next) {
    const Expression expression = expressions_[id];
    switch (expression.kind) {
      case ExpressionKind::never: return add_split({});
      case ExpressionKind::empty: return next;
      case ExpressionKind::bytes: return add_bytes(expressions_.set_of(expression), next);
      case ExpressionKind::text: {
        const std::string_view text = expressions_.text_of(expression);
        for (auto byte = text.rbegin(); byte != text.rend(); ++byte) {
          next = TRY(add_bytes(ByteSet::of(static_cast<std::uint8_t>(*byte)), next));
        }
        return next;
      }
      case ExpressionKind::sequence: {
        for (std::uint32_t index = expression.size; index > 0; --index) {
          next = TRY(build(expressions_.children_of(expression)[index - 1], next));
        }
        return next;
      }
      case ExpressionKind::alternatives: {
        std::vector<PositionId> branches;
        for (std::uint32_t index = 0; index < expression.size; ++index) {
          branches.push_back(TRY(build(expressions_.children_of(expression)[index], next)));
        }
        return add_split(branches);
      }
      case ExpressionKind::repeat: return build_repeat(expression, next);
      case ExpressionKind::rule: return build_call(expression.place, next);
      case ExpressionKind::automaton: return build_automaton(expressions_.automaton_of(expression), next);
    }
    return next;
  }

  Result<PositionId> build_call(RuleId rule, PositionId next) {
    if (starts_.emplace(rule, Grammar::end).second) called_.push_back(rule);
    return add(Position::Kind::call, rule, next);
  }

  Result<PositionId> build_repeat(const Expression& expression, PositionId next) {
    const ExpressionId child = expression.place;
    const auto [least, most] = std::pair(expression.least, expression.most);
    if (most == unbounded && least <= 1) return build_star(child, least, next);
    if (most == 1) return add_split(std::vector{TRY(build(child, next)), next});
    const ExpressionKind kind = expressions_[child].kind;
    const bool is_small = kind == ExpressionKind::bytes || kind == ExpressionKind::text || kind == ExpressionKind::rule;
    if (is_small && !nullability_.is_nullable(child) && most <= most_unrolled) {
      const PositionId after = next;
      for (std::uint32_t round = most; round > 0; --round) {
        next = TRY(build(child, next));
        if (round > least) next = TRY(add_split(std::vector{next, after}));
      }
      return next;
    }
    const bool is_nullable = nullability_.is_nullable(child);
    const ExpressionId round = TRY(nullability_.without_empty(child));
    const PositionId body = TRY(build(round, Grammar::end));
    TRY(budget_.spend(sizeof(Loop)));
    grammar_.loops_.push_back({body, is_nullable ? 0 : least, most});
    return add(Position::Kind::loop, static_cast<std::uint32_t>(grammar_.loops_.size() - 1), next);
  }

  Result<PositionId> build_star(ExpressionId child, std::uint32_t least, PositionId next) {
    const PositionId split = TRY(add(Position::Kind::split, 0, 0));
    const PositionId body = TRY(build(child, split));
    TRY(set_branches(split, std::vector{body, next}));
    return least == 0 ? split : body;
  }

  Result<PositionId> build_automaton(const FiniteAutomaton& automaton, PositionId next) {
    const auto base = static_cast<PositionId>(grammar_.positions_.size());
    for (std::uint32_t state = 0; state < automaton.state_count(); ++state) TRY(add(Position::Kind::split, 0, 0));
    if (automaton.state_count() == 0) return add_split({});
    for (std::uint32_t state = 0; state < automaton.state_count(); ++state) {
      std::map<std::uint32_t, ByteSet> targets;
      for (const auto& edge : automaton.edges(state)) targets[edge.target].add_range(edge.first, edge.last);
      std::vector<PositionId> branches;
      for (const auto& [target, set] : targets) branches.push_back(TRY(add_bytes(set, base + target)));
      if (automaton.is_accepting(state)) branches.push_back(next);
      TRY(set_branches(base + state, branches));
    }
    return base;
  }

  // The least fixed point: a rule that can only call itself again never ends. What becomes alive is told to those that
  // wait for it, so that each is looked at as often as it has ways on.
  Result<void> find_living() {
    auto& positions = grammar_.positions_;
    std::vector<std::vector<PositionId>> waiting(positions.size());
    std::vector<PositionId> open;
    for (PositionId id = 0; id < positions.size(); ++id) {
      TRY(budget_.spend(0));
      const Position& position = positions[id];
      if (position.kind == Position::Kind::end) open.push_back(id);
      if (position.kind == Position::Kind::split) {
        for (const PositionId branch : grammar_.branches(position)) waiting[branch].push_back(id);
        continue;
      }
      waiting[position.second].push_back(id);
      if (position.kind == Position::Kind::call) waiting[position.first].push_back(id);
      if (position.kind == Position::Kind::loop) waiting[grammar_.loop(position).body].push_back(id);
    }
    while (!open.empty()) {
      const PositionId living = open.back();
      open.pop_back();
      for (const PositionId id : waiting[living]) {
        TRY(budget_.spend(0));
        if (positions[id].is_alive || !is_living(positions[id])) continue;
        positions[id].is_alive = true;
        open.push_back(id);
      }
    }
    return {};
  }

  bool is_living(const Position& position) const {
    const auto is_alive = [&](PositionId id) { return grammar_.positions_[id].is_alive; };
    switch (position.kind) {
      case Position::Kind::end: return true;
      case Position::Kind::bytes: return is_alive(position.second);
      case Position::Kind::split: return std::ranges::any_of(grammar_.branches(position), is_alive);
      case Position::Kind::call: return is_alive(position.first) && is_alive(position.second);
      case Position::Kind::loop: {
        const Loop& loop = grammar_.loop(position);
        return is_alive(position.second) && (loop.least == 0 || is_alive(loop.body));
      }
    }
    return false;
  }

  // A rule that calls itself before it reads would push frames for ever. Rules in the order of a depth-first walk: one
  // that is met again while it is being walked is such a rule.
  Result<void> refuse_left_recursion() {
    std::unordered_map<PositionId, RuleId> callee_of;
    std::size_t call = 0;
    for (PositionId id = 0; id < grammar_.positions_.size(); ++id) {
      if (grammar_.positions_[id].kind == Position::Kind::call) callee_of.emplace(id, callees_[call++]);
    }
    enum class Mark : std::uint8_t { open, closed };
    std::unordered_map<RuleId, Mark> marks;
    struct Visit {
      RuleId rule;
      std::vector<RuleId> callees;
    };
    for (const RuleId first : called_) {
      if (marks.contains(first)) continue;
      std::vector<Visit> path;
      const auto enter = [&](RuleId rule) -> Result<void> {
        marks[rule] = Mark::open;
        path.push_back({rule, TRY(called_first(rule, callee_of))});
        return {};
      };
      TRY(enter(first));
      while (!path.empty()) {
        if (path.back().callees.empty()) {
          marks[path.back().rule] = Mark::closed;
          path.pop_back();
          continue;
        }
        const RuleId callee = path.back().callees.back();
        path.back().callees.pop_back();
        const auto mark = marks.find(callee);
        if (mark == marks.end()) {
          TRY(enter(callee));
        } else if (mark->second == Mark::open) {
          return Error::of(ErrorCode::unsupported,
                           "expected rules that read something before they call themselves, found ",
                           Quoted{expressions_.name_of(callee)}, ", which does not");
        }
      }
    }
    return {};
  }

  Result<std::vector<RuleId>> called_first(RuleId rule, const std::unordered_map<PositionId, RuleId>& callee_of) {
    std::vector<RuleId> callees;
    std::vector<PositionId> open{starts_.at(rule)};
    std::unordered_map<PositionId, bool> is_seen;
    const auto visit = [&](PositionId id) {
      if (is_seen.emplace(id, true).second) open.push_back(id);
    };
    while (!open.empty()) {
      TRY(budget_.spend(0));
      const PositionId id = open.back();
      open.pop_back();
      const Position& position = grammar_.positions_[id];
      if (!position.is_alive) continue;
      if (position.kind == Position::Kind::split) {
        for (const PositionId branch : grammar_.branches(position)) visit(branch);
      } else if (position.kind == Position::Kind::call) {
        const RuleId callee = callee_of.at(id);
        callees.push_back(callee);
        if (nullability_.is_nullable_rule(callee)) visit(position.second);
      } else if (position.kind == Position::Kind::loop) {
        visit(grammar_.loop(position).body);
        if (grammar_.loop(position).least == 0) visit(position.second);
      }
    }
    return callees;
  }

  Result<void> find_classes() {
    std::array<std::uint8_t, 256>& classes = grammar_.classes_;
    std::uint32_t count = 1;
    for (const ByteSet& set : grammar_.sets_) {
      TRY(budget_.look());
      std::map<std::pair<std::uint8_t, bool>, std::uint8_t> refined;
      std::array<std::uint8_t, 256> next{};
      for (unsigned byte = 0; byte < 256; ++byte) {
        const auto key = std::pair(classes[byte], set.contains(byte));
        next[byte] = refined.try_emplace(key, static_cast<std::uint8_t>(refined.size())).first->second;
      }
      classes = next;
      count = static_cast<std::uint32_t>(refined.size());
      if (count == 256) break;
    }
    grammar_.representatives_.assign(count, 0);
    for (unsigned byte = 256; byte > 0; --byte) {
      grammar_.representatives_[classes[byte - 1]] = static_cast<std::uint8_t>(byte - 1);
    }
    return {};
  }

  Expressions& expressions_;
  Budget& budget_;
  Nullability nullability_;
  Grammar grammar_;
  std::map<ByteSet, std::uint32_t> set_places_;
  std::unordered_map<RuleId, PositionId> starts_;
  std::vector<RuleId> called_;   // in the order in which they are met
  std::vector<RuleId> callees_;  // of the positions that call, in their order
};

std::size_t Grammar::size_in_bytes() const {
  return positions_.size() * sizeof(Position) + branches_.size() * sizeof(PositionId) + sets_.size() * sizeof(ByteSet) +
         loops_.size() * sizeof(Loop);
}

Result<std::shared_ptr<const Grammar>> compile(Expressions& expressions, ExpressionId root) {
  TRY(expressions.check());
  auto nullability = TRY(Nullability::of(expressions));
  auto grammar = TRY(GrammarBuilder(expressions, std::move(nullability)).build_from(root));
  if (Stacks stacks(grammar); stacks.begin() == Stacks::dead) {
    return Error::of(ErrorCode::out_of_range, "expected a grammar that begins in at most ", Stacks::most_threads,
                     " ways, found more");
  }
  return grammar;
}

}  // namespace ingot::grammar
