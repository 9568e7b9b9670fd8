// For tests: whole texts against grammars, and masks the slow way.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/grammar/budget.h"
#include "model/grammar/grammar_state.h"
#include "model/grammar/token_mask.h"
#include "model/grammar/token_trie.h"

namespace ingot::grammar {

// Under a sanitizer, beside others, a second is soon over: what is asked is not how long a grammar takes.
inline constexpr CompileLimits unhurried{.time = std::chrono::minutes(1)};

using SharedGrammar = std::shared_ptr<const Grammar>;

inline bool takes(const SharedGrammar& grammar, std::string_view text) {
  GrammarState state(grammar);
  return state.accept(text) && state.can_end();
}

inline bool begins(const SharedGrammar& grammar, std::string_view text) { return GrammarState(grammar).accept(text); }

// Every token is tried on a copy.
inline TokenMask slow_mask(const GrammarState& state, std::span<const std::string_view> pieces,
                           std::span<const TokenId> ends) {
  TokenMask mask(pieces.size());
  for (std::size_t id = 0; id < pieces.size(); ++id) {
    GrammarState copy = state;
    if (!pieces[id].empty() && copy.accept(pieces[id])) mask.allow(static_cast<TokenId>(id));
  }
  for (const TokenId end : ends) {
    if (state.can_end()) mask.allow(end);
  }
  return mask;
}

inline std::vector<std::string_view> views_of(const std::vector<std::string>& texts) {
  return {texts.begin(), texts.end()};
}

}  // namespace ingot::grammar
