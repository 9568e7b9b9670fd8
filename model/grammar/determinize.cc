#include "model/grammar/determinize.h"

#include <unordered_map>

#include "model/grammar/stacks.h"

namespace ingot::grammar {

Result<FiniteAutomaton> determinize(std::shared_ptr<const Grammar> grammar, Budget& budget) {
  Stacks stacks(std::move(grammar));
  std::unordered_map<StateId, std::uint32_t> numbers;
  std::vector<StateId> order;
  const auto number = [&](StateId state) {
    const auto [place, is_new] = numbers.try_emplace(state, static_cast<std::uint32_t>(order.size()));
    if (is_new) order.push_back(state);
    return place->second;
  };
  number(stacks.begin());
  FiniteAutomaton result;
  std::vector<FiniteAutomaton::Edge> edges;
  std::size_t spent = 0;
  for (std::size_t index = 0; index < order.size(); ++index) {
    const StateId state = order[index];
    edges.clear();
    for (unsigned byte = 0; byte < 256; ++byte) {
      const StateId next = stacks.step(state, static_cast<std::uint8_t>(byte));
      if (next == Stacks::dead) continue;
      const std::uint32_t target = number(next);
      const auto label = static_cast<std::uint8_t>(byte);
      if (!edges.empty() && edges.back().target == target && edges.back().last + 1u == byte) {
        edges.back().last = label;
      } else {
        edges.push_back({label, label, target});
      }
    }
    if (stacks.has_overflown()) {
      return Error::of(ErrorCode::out_of_range, "expected a pattern that can be followed in at most ",
                       Stacks::most_threads, " ways at once, found one with more");
    }
    const std::size_t bytes = stacks.size_in_bytes();
    TRY(budget.spend(edges.size() * sizeof(FiniteAutomaton::Edge) + bytes - spent));
    spent = bytes;
    result.add_state(edges, stacks.can_end(state));
  }
  return result;
}

}  // namespace ingot::grammar
