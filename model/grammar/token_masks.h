// Masks of a grammar over a vocabulary, kept by the state that they belong to.
//
// What a token does inside of the innermost rule does not depend on who called it: that part of a mask is computed once
// for the rule's positions (inside of a JSON string it is nearly all of the vocabulary). Left are the places in the
// tree of tokens where the rule may be complete; from those on a token is followed in the caller's state. Inside of a
// counted repetition the part is computed once for all counts, with how many rounds each token takes.
//
// One thread at a time.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "model/grammar/grammar_state.h"
#include "model/grammar/token_mask.h"
#include "model/grammar/token_trie.h"

namespace ingot::grammar {

class TokenMasks {
 public:
  // Nodes of the tree and places of the grammar that are looked at for one mask: about half a second. Grammars come
  // from whoever sends a request, and what is ambiguous enough makes every step thousands of times as long.
  static constexpr std::size_t usual_effort = 20'000'000;

  TokenMasks(std::shared_ptr<const Grammar> grammar, std::shared_ptr<const TokenTrie> trie,
             std::size_t most_effort = usual_effort)
      : grammar_(std::move(grammar)), trie_(std::move(trie)), most_effort_(most_effort) {}

  // A token is allowed only where accept() takes its bytes; those that end a generation where the text may end.
  // Fails where the mask would take more than the effort; others of the grammar may still be had.
  // Precondition: the state is one of the grammar.
  Result<std::shared_ptr<const TokenMask>> mask(const GrammarState& state);

  struct Counts {
    std::size_t asked = 0;
    std::size_t found = 0;     // as they were kept
    std::size_t inner = 0;     // parts that were computed
    std::size_t followed = 0;  // nodes of the tree that were stepped into
  };
  const Counts& counts() const { return counts_; }

 private:
  // Rounds for which what fits is kept as a mask of its own; tokens that take more are listed.
  static constexpr std::uint32_t most_masked_rounds = 16;
  static constexpr std::size_t most_masks = 512;
  static constexpr std::size_t most_inner_parts = 128;
  static constexpr std::size_t most_inner_bytes = 16 << 20;
  // Of the key of a mask that is kept. Deep stacks that differ a little have keys of megabytes.
  static constexpr std::size_t most_key_bytes = 16 << 10;
  // Frames whose inner parts are put together for one mask; of more, the state is followed as a whole.
  static constexpr std::size_t most_groups = 8;

  struct Exit {
    std::uint32_t node;    // with whose byte the inner part may be complete
    std::uint32_t rounds;  // of a repetition
  };
  // The largest state that was met. accept() steps with all threads of a state at once where a mask looks at groups of
  // them, and refuses bytes that lead to too many.
  struct Peak {
    std::size_t threads = 0, places = 0;

    void add(const Stacks& stacks, StateId state) {
      threads = std::max(threads, stacks.threads(state).size());
      places = std::max(places, stacks.places(state));
    }
    bool may_overflow(std::size_t times) const {
      return threads * times > Stacks::most_threads || places * times > Stacks::most_places;
    }
  };
  struct InnerPart {
    bool is_usable = true;         // a repetition whose rounds can be told in one way only
    std::vector<TokenMask> masks;  // [n]: tokens that take at most n rounds; without a repetition there is one
    std::vector<std::pair<std::uint32_t, TokenId>> longer;  // rounds, token: by rounds
    std::vector<Exit> exits;
    std::size_t nodes_behind_exits = 0;  // those behind several count for each
    std::size_t exits_on_a_path = 0;     // of one token, at the most
    Peak peak;

    std::size_t size_in_bytes() const {
      const std::size_t mask_bytes = masks.empty() ? 0 : masks.size() * masks[0].words().size_bytes();
      return mask_bytes + longer.size() * sizeof(longer[0]) + exits.size() * sizeof(Exit);
    }
  };
  using Group = std::span<const Thread>;

  // Nothing: too long to be kept.
  std::optional<std::string> key_of(const GrammarState& state) const;
  Result<bool> add_groups(Stacks& stacks, StateId state, TokenMask& mask);
  Result<Peak> add_group(Stacks& stacks, Group group, TokenMask& mask);
  Result<const InnerPart*> inner_part(Stacks& stacks, Group group);
  void add_exit(const Exit& exit, InnerPart& part) const;
  void count_exits_on_paths(InnerPart& part) const;
  Result<void> find_inner_tokens(Stacks& stacks, StateId begin, InnerPart& part);
  Result<void> find_inner_rounds(Stacks& stacks, PositionId loop, StateId begin, InnerPart& part);
  void allow(const TokenTrie::Node& node, TokenMask& mask) const;
  Result<void> follow(Stacks& stacks, StateId begin, std::uint32_t first, std::uint32_t last, TokenMask& mask,
                      Peak& peak);
  template <class Visit>
  Result<void> walk(Stacks& stacks, StateId begin, std::uint32_t first, std::uint32_t last, Peak& peak, Visit visit);

  std::shared_ptr<const Grammar> grammar_;
  std::shared_ptr<const TokenTrie> trie_;
  std::size_t most_effort_;
  std::size_t effort_limit_ = 0;  // of the mask that is being made, on the scale of followed nodes and stacks' effort
  std::unordered_map<std::string, std::shared_ptr<const TokenMask>> masks_;
  std::map<std::vector<PositionId>, InnerPart> inner_parts_;
  std::size_t inner_bytes_ = 0;  // of them
  Counts counts_;
};

}  // namespace ingot::grammar
