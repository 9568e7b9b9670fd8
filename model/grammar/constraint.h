// Constraint: a grammar over a vocabulary, for all texts that are held to it. A mask that one of them asked for is
// there for the others.
//
//   Constraints constraints(tokenizer);                       one for a model
//   auto constraint = TRY(constraints.of({.text = schema}));  one for all texts of a grammar
//   TextConstraint text(constraint);                          one for a text
//
// Used by many threads at once.
#pragma once

#include <memory>
#include <mutex>

#include "model/grammar/token_masks.h"
#include "model/grammar/trigger.h"

namespace ingot::grammar {

class Constraint {
 public:
  // The tokenizer, which the tree is of, must outlive it. With a trigger texts are free until it comes outside of
  // thoughts, and the grammar holds from it on. Without, all of a text is the grammar's.
  Constraint(std::shared_ptr<const Grammar> grammar, std::shared_ptr<const TokenTrie> trie, const Tokenizer& tokenizer,
             Trigger trigger = {})
      : grammar_(std::move(grammar)),
        tokenizer_(&tokenizer),
        trigger_(std::move(trigger)),
        trie_(std::move(trie)),
        masks_(grammar_, trie_) {}

  const std::shared_ptr<const Grammar>& grammar() const { return grammar_; }
  const Tokenizer& tokenizer() const { return *tokenizer_; }
  const Trigger& trigger() const { return trigger_; }
  const TokenTrie& trie() const { return *trie_; }

  // Precondition: the state is one of the grammar, and nobody else uses it meanwhile.
  Result<std::shared_ptr<const TokenMask>> mask(const GrammarState& state) const {
    const std::lock_guard lock(mutex_);
    return masks_.mask(state);
  }
  TokenMasks::Counts mask_counts() const {
    const std::lock_guard lock(mutex_);
    return masks_.counts();
  }

 private:
  const std::shared_ptr<const Grammar> grammar_;
  const Tokenizer* tokenizer_;
  const Trigger trigger_;
  const std::shared_ptr<const TokenTrie> trie_;
  mutable std::mutex mutex_;
  mutable TokenMasks masks_;
};

}  // namespace ingot::grammar
