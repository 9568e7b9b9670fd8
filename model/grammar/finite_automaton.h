// A deterministic automaton over bytes: what is left of a regular language when two of them have been intersected or
// subtracted, which rules and counters cannot do.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/grammar/budget.h"

namespace ingot::grammar {

class FiniteAutomaton {
 public:
  static constexpr std::uint32_t begin = 0;
  static constexpr std::uint32_t dead = static_cast<std::uint32_t>(-1);

  // Edges of a state are in the order of their bytes and do not overlap.
  struct Edge {
    std::uint8_t first, last;
    std::uint32_t target;
  };

  // State 0 is where it begins; with no state nothing is accepted.
  std::uint32_t add_state(std::span<const Edge> edges, bool is_accepting);

  std::uint32_t state_count() const { return static_cast<std::uint32_t>(states_.size()); }
  bool is_accepting(std::uint32_t state) const { return states_[state].is_accepting; }
  std::span<const Edge> edges(std::uint32_t state) const {
    return std::span(edges_).subspan(states_[state].first_edge, states_[state].edge_count);
  }
  std::uint32_t step(std::uint32_t state, std::uint8_t byte) const;
  bool accepts(std::string_view text) const;
  bool is_nothing() const;  // accepts no text at all
  std::size_t size_in_bytes() const { return edges_.size() * sizeof(Edge) + states_.size() * sizeof(State); }

 private:
  struct State {
    std::uint32_t first_edge;
    std::uint32_t edge_count : 31;
    std::uint32_t is_accepting : 1;
  };

  std::vector<State> states_;
  std::vector<Edge> edges_;
};

// Exactly these texts.
Result<FiniteAutomaton> accept_texts(std::vector<std::string_view> texts, Budget& budget);
// What both accept.
Result<FiniteAutomaton> intersect(const FiniteAutomaton& left, const FiniteAutomaton& right, Budget& budget);
// What the left accepts and the right does not.
Result<FiniteAutomaton> subtract(const FiniteAutomaton& left, const FiniteAutomaton& right, Budget& budget);

}  // namespace ingot::grammar
