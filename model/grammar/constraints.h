// Constraints of one vocabulary, by what they were made from. Clients send the same schema with every request: it is
// compiled once, and so is the tree of tokens, which all share. Why one does not compile is kept too, unless
// time was short. What was used longest ago goes first.
//
// Used by many threads at once.
#pragma once

#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <vector>

#include "model/grammar/constraint.h"
#include "model/grammar/grammar_source.h"

namespace ingot::grammar {

class Constraints {
 public:
  // Of those that nobody uses any more: each has masks, some megabytes of them with large vocabularies.
  static constexpr std::size_t usual_count = 32;
  // Of the grammars of all that are kept or used: each may have megabytes, and whoever sends them has as many as may
  // wait for their turn.
  static constexpr std::size_t usual_bytes = 256u << 20;
  // A source may have as many bytes as a request's body, and is its own key: one above this is made anew each time.
  static constexpr std::size_t longest_key = 64 * 1024;

  // The tokenizer must outlive it, and all constraints.
  explicit Constraints(const Tokenizer& tokenizer, std::size_t most_kept = usual_count,
                       std::size_t most_bytes = usual_bytes)
      : tokenizer_(&tokenizer), most_kept_(most_kept), most_bytes_(most_bytes) {}

  using Compile = std::function<Result<std::shared_ptr<const Grammar>>()>;
  // The one that was made under this key, or a new one of what `compile` makes. Equal keys mean equal grammars. Fails
  // with would_block where those that are used leave no room for it.
  Result<std::shared_ptr<const Constraint>> of(const std::string& key, const Compile& compile,
                                               const Trigger& trigger = {});
  Result<std::shared_ptr<const Constraint>> of(const GrammarSource& source, const Trigger& trigger = {});
  // That one, or why there is none; nothing where it would have to be compiled.
  std::optional<Result<std::shared_ptr<const Constraint>>> kept(const std::string& key, const Trigger& trigger = {});

  std::size_t count() const;

 private:
  using Made = Result<std::shared_ptr<const Constraint>>;
  struct Kept {
    std::string key;
    std::shared_ptr<const Constraint> constraint;
    std::optional<Error> error;  // why there is none

    Made made() const;
  };

  Result<std::shared_ptr<const TokenTrie>> trie();
  Made make(const Compile& compile, const Trigger& trigger);
  // What is only kept makes way. Precondition: the lock is held.
  Result<void> add_used(const std::shared_ptr<const Constraint>& constraint);
  std::size_t used_bytes();
  // Null where there is none; what is found counts as used last. Precondition: the lock is held.
  const Kept* find(const std::string& key);

  const Tokenizer* tokenizer_;
  const std::size_t most_kept_;
  const std::size_t most_bytes_;
  std::mutex trie_mutex_;  // while it is made, whoever else needs it waits
  std::shared_ptr<const TokenTrie> trie_;
  mutable std::mutex mutex_;
  std::list<Kept> kept_;  // the last used first
  std::vector<std::weak_ptr<const Constraint>> used_;
};

}  // namespace ingot::grammar
