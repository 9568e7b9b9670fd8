#include "model/grammar/finite_automaton.h"

#include <algorithm>
#include <unordered_map>

namespace ingot::grammar {

namespace {

using Edge = FiniteAutomaton::Edge;
constexpr std::uint32_t dead = FiniteAutomaton::dead;

enum class Operation : std::uint8_t { intersect, subtract };

// The pairs of states that can be reached together, numbered as they are found. Of a difference the right state may be
// dead: from there on everything that the left accepts is accepted.
class Product {
 public:
  Product(const FiniteAutomaton& left, const FiniteAutomaton& right, Operation operation, Budget& budget)
      : left_(left), right_(right), operation_(operation), budget_(budget) {}

  Result<FiniteAutomaton> make() {
    FiniteAutomaton result;
    if (left_.state_count() == 0) return result;
    if (right_.state_count() == 0 && operation_ == Operation::intersect) return result;
    number({0, right_.state_count() == 0 ? dead : 0});
    std::vector<Edge> edges;
    for (std::size_t index = 0; index < pairs_.size(); ++index) {
      const Pair pair = pairs_[index];
      edges.clear();
      for (const Edge& edge : left_.edges(pair.left)) add_edges(edge, pair.right, edges);
      TRY(budget_.spend(edges.size() * sizeof(Edge) + sizeof(Pair) * 4));
      const bool right_accepts = pair.right != dead && right_.is_accepting(pair.right);
      const bool is_accepting =
          left_.is_accepting(pair.left) && (operation_ == Operation::intersect ? right_accepts : !right_accepts);
      result.add_state(edges, is_accepting);
    }
    return result;
  }

 private:
  struct Pair {
    std::uint32_t left, right;
  };

  std::uint32_t number(Pair pair) {
    const std::uint64_t key = std::uint64_t{pair.left} << 32 | pair.right;
    const auto [place, is_new] = numbers_.try_emplace(key, static_cast<std::uint32_t>(pairs_.size()));
    if (is_new) pairs_.push_back(pair);
    return place->second;
  }

  void add_edges(const Edge& left, std::uint32_t right_state, std::vector<Edge>& edges) {
    unsigned byte = left.first;
    if (right_state != dead) {
      for (const Edge& right : right_.edges(right_state)) {
        if (right.last < byte) continue;
        if (right.first > left.last) break;
        if (right.first > byte) add_without_right(byte, right.first - 1u, left.target, edges);
        const unsigned first = std::max<unsigned>(byte, right.first);
        const unsigned last = std::min(left.last, right.last);
        edges.push_back(
            {static_cast<std::uint8_t>(first), static_cast<std::uint8_t>(last), number({left.target, right.target})});
        byte = last + 1;
        if (byte > left.last) return;
      }
    }
    add_without_right(byte, left.last, left.target, edges);
  }

  void add_without_right(unsigned first, unsigned last, std::uint32_t target, std::vector<Edge>& edges) {
    if (operation_ == Operation::intersect) return;
    edges.push_back({static_cast<std::uint8_t>(first), static_cast<std::uint8_t>(last), number({target, dead})});
  }

  const FiniteAutomaton& left_;
  const FiniteAutomaton& right_;
  const Operation operation_;
  Budget& budget_;
  std::unordered_map<std::uint64_t, std::uint32_t> numbers_;
  std::vector<Pair> pairs_;
};

}  // namespace

std::uint32_t FiniteAutomaton::add_state(std::span<const Edge> edges, bool is_accepting) {
  states_.push_back({static_cast<std::uint32_t>(edges_.size()), static_cast<std::uint32_t>(edges.size()) & 0x7fffffffu,
                     is_accepting ? 1u : 0u});
  edges_.insert(edges_.end(), edges.begin(), edges.end());
  return state_count() - 1;
}

std::uint32_t FiniteAutomaton::step(std::uint32_t state, std::uint8_t byte) const {
  for (const Edge& edge : edges(state)) {
    if (edge.first <= byte && byte <= edge.last) return edge.target;
  }
  return dead;
}

bool FiniteAutomaton::accepts(std::string_view text) const {
  if (states_.empty()) return false;
  std::uint32_t state = begin;
  for (const char character : text) {
    state = step(state, static_cast<std::uint8_t>(character));
    if (state == dead) return false;
  }
  return is_accepting(state);
}

bool FiniteAutomaton::is_nothing() const {
  // Every state can be reached from the first: those who make automata number states as they reach them.
  for (std::uint32_t state = 0; state < state_count(); ++state) {
    if (is_accepting(state)) return false;
  }
  return true;
}

Result<FiniteAutomaton> accept_texts(std::vector<std::string_view> texts, Budget& budget) {
  std::sort(texts.begin(), texts.end());
  texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
  // The texts that have a beginning in common stand side by side: a state for each beginning.
  struct Group {
    std::size_t first, last, length;
  };
  FiniteAutomaton result;
  std::vector<Group> groups;
  if (!texts.empty()) groups.push_back({0, texts.size(), 0});
  std::vector<Edge> edges;
  for (std::size_t index = 0; index < groups.size(); ++index) {
    Group group = groups[index];
    const bool is_accepting = texts[group.first].size() == group.length;
    if (is_accepting) ++group.first;
    edges.clear();
    while (group.first < group.last) {
      const char byte = texts[group.first][group.length];
      std::size_t end = group.first;
      while (end < group.last && texts[end][group.length] == byte) ++end;
      const auto label = static_cast<std::uint8_t>(byte);
      edges.push_back({label, label, static_cast<std::uint32_t>(groups.size())});
      groups.push_back({group.first, end, group.length + 1});
      group.first = end;
    }
    TRY(budget.spend(edges.size() * (sizeof(Edge) + sizeof(Group))));
    result.add_state(edges, is_accepting);
  }
  return result;
}

Result<FiniteAutomaton> intersect(const FiniteAutomaton& left, const FiniteAutomaton& right, Budget& budget) {
  return Product(left, right, Operation::intersect, budget).make();
}

Result<FiniteAutomaton> subtract(const FiniteAutomaton& left, const FiniteAutomaton& right, Budget& budget) {
  return Product(left, right, Operation::subtract, budget).make();
}

}  // namespace ingot::grammar
