// A text that a tokenizer spells and a constraint holds: what may come next, and what came. One thread at a time.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/grammar/constraint.h"

namespace ingot::grammar {

class TextConstraint {
 public:
  explicit TextConstraint(std::shared_ptr<const Constraint> constraint);

  // Null: any token, while the grammar does not hold yet. Fails where the vocabulary has no token that goes on.
  Result<std::shared_ptr<const TokenMask>> allowed();
  // False: the text cannot go on so, and is what it was. Tokens that end a generation change nothing. What is allowed
  // may be refused where a token goes on behind the trigger with what the grammar does not have.
  [[nodiscard]] bool accept(TokenId token);
  // Whether the grammar holds: always, or since the trigger came.
  bool is_held() const { return state_.has_value(); }
  // Whether what came satisfies the grammar, as far as it holds.
  bool can_end() const { return !state_ || state_->can_end(); }
  // Whether nothing but the end is left.
  bool must_end() const { return state_ && state_->must_end(); }
  // What every continuation begins with, in the tokens that the tokenizer has for it. Without the last of them where a
  // longer token that the grammar allows begins like it: it might be one with what follows. None where the tokenizer
  // writes a text's beginning in another way than what goes on.
  struct Forced {
    std::vector<TokenId> tokens;
    bool is_all = true;  // else there are many, or they take long to find: who accepts them asks again
  };
  Forced forced_tokens() const;

 private:
  bool accept_free(std::string_view piece);
  // Whether a token that may come in that state begins with this one and goes on.
  bool may_be_longer(const GrammarState& before, TokenId token) const;
  // Goes on to the trigger outside of thoughts and says where it begins, or keeps what could become a mark.
  std::size_t find_trigger(std::string_view text);

  std::shared_ptr<const Constraint> constraint_;
  std::optional<GrammarState> state_;
  // Of a free text:
  std::string last_;  // what could be the beginning of a mark
  bool is_in_thought_;
  bool may_think_ = true;  // nothing but white space came, or a thought
};

}  // namespace ingot::grammar
