// Where a text is in its grammar. A copy costs a few words; it shares tables with the original, so a state and its
// copies are used by one thread at a time.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "model/grammar/grammar.h"
#include "model/grammar/stacks.h"

namespace ingot::grammar {

class GrammarState {
 public:
  explicit GrammarState(std::shared_ptr<const Grammar> grammar);

  // Goes on by these bytes. False: the grammar has no such text, and the state is what it was.
  [[nodiscard]] bool accept(std::string_view bytes);
  // Whether the text so far is complete.
  bool can_end() const { return stacks_->can_end(state_); }
  // Whether nothing but the end is left.
  bool must_end() const { return stacks_->threads(state_).empty(); }
  // The bytes that every continuation begins with: at most so many, and no more than are found with so many steps and
  // places looked at.
  std::string forced_bytes(std::size_t most = 256, std::size_t most_effort = 1 << 16) const;

  const Grammar& grammar() const { return stacks_->grammar(); }
  // For those who compute masks.
  Stacks& stacks() const { return *stacks_; }
  StateId state() const { return state_; }

 private:
  static StateId move_to_new_tables(std::shared_ptr<Stacks>& stacks, StateId state);

  std::shared_ptr<Stacks> stacks_;
  StateId state_;
};

}  // namespace ingot::grammar
