#include "model/grammar/grammar_state.h"

#include <optional>

namespace ingot::grammar {

namespace {

// The only byte that leads on, if it is the only one.
std::optional<std::uint8_t> only_byte(const Stacks& stacks, StateId state) {
  const Grammar& grammar = stacks.grammar();
  ByteSet all;
  for (const Thread& thread : stacks.threads(state)) {
    all = all.united(grammar.set(grammar[thread.position]));
    if (all.count() > 1) return std::nullopt;
  }
  if (all.is_empty()) return std::nullopt;
  return static_cast<std::uint8_t>(all.least());
}

}  // namespace

GrammarState::GrammarState(std::shared_ptr<const Grammar> grammar)
    : stacks_(std::make_shared<Stacks>(std::move(grammar))), state_(stacks_->begin()) {}

// Counters make a state of every round: a long text leaves behind those that nobody will meet again.
StateId GrammarState::move_to_new_tables(std::shared_ptr<Stacks>& stacks, StateId state) {
  auto fresh = std::make_shared<Stacks>(stacks->shared_grammar());
  const StateId copy = stacks->copy_to(*fresh, state);
  stacks = std::move(fresh);
  return copy;
}

bool GrammarState::accept(std::string_view bytes) {
  std::shared_ptr<Stacks> stacks = stacks_;
  StateId state = state_;
  for (const char byte : bytes) {
    StateId next = stacks->step(state, static_cast<std::uint8_t>(byte));
    if (next == Stacks::dead && stacks->is_full()) {
      // For want of memory perhaps, which a mask took meanwhile.
      state = move_to_new_tables(stacks, state);
      next = stacks->step(state, static_cast<std::uint8_t>(byte));
    }
    if (next == Stacks::dead) return false;
    state = next;
  }
  if (stacks->is_crowded()) state = move_to_new_tables(stacks, state);
  stacks_ = std::move(stacks);
  state_ = state;
  return true;
}

std::string GrammarState::forced_bytes(std::size_t most, std::size_t most_effort) const {
  std::string forced;
  StateId state = state_;
  const std::size_t before = stacks_->effort();
  std::size_t looked_at = 0;
  while (forced.size() < most && !stacks_->can_end(state)) {
    looked_at += stacks_->threads(state).size();
    if (looked_at + stacks_->effort() - before > most_effort) break;
    const auto byte = only_byte(*stacks_, state);
    if (!byte) break;
    state = stacks_->step(state, *byte);
    if (state == Stacks::dead) break;
    forced += static_cast<char>(*byte);
  }
  return forced;
}

}  // namespace ingot::grammar
