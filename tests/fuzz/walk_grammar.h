// A walk through a grammar that the fuzzer chose, by bytes that it chose: masks agree with what is accepted.
#pragma once

#include <array>
#include <memory>
#include <string_view>
#include <vector>

#include "model/grammar/token_masks.h"

namespace ingot {

inline constexpr grammar::CompileLimits small_limits{.bytes = 1u << 20, .time = std::chrono::milliseconds(300)};

inline void walk_grammar(const Result<std::shared_ptr<const grammar::Grammar>>& compiled, std::string_view text) {
  if (!compiled.ok()) return;
  std::array<char, 256> bytes;
  std::vector<std::string_view> pieces;
  for (unsigned byte = 0; byte < bytes.size(); ++byte) {
    bytes[byte] = static_cast<char>(byte);
    pieces.emplace_back(&bytes[byte], 1);
  }
  for (const std::string_view word : {"aa", "ab", "\":", "\", \"", "[1", "  ", "\xC3\xA4"}) pieces.push_back(word);
  const auto trie = grammar::TokenTrie::create(pieces, {});
  grammar::TokenMasks masks(compiled.value(), trie.value());
  grammar::GrammarState state(compiled.value());
  for (std::size_t step = 0; step < 16 && step < text.size(); ++step) {
    const auto made = masks.mask(state);
    if (!made.ok()) return;
    const auto& mask = made.value();
    std::vector<TokenId> allowed;
    for (std::size_t token = 0; token < pieces.size(); ++token) {
      grammar::GrammarState copy = state;
      const bool is_accepted = copy.accept(pieces[token]);
      const bool is_allowed = mask->allows(static_cast<TokenId>(token));
      // Where a state was too large the mask may be narrower, never wider.
      if (is_allowed && !is_accepted) __builtin_trap();
      if (state.stacks().has_overflown()) return;
      if (is_accepted != is_allowed) __builtin_trap();
      if (is_allowed) allowed.push_back(static_cast<TokenId>(token));
    }
    // Every state leads somewhere, or is an end.
    if (allowed.empty() && !state.can_end()) __builtin_trap();
    if (allowed.empty()) return;
    const TokenId chosen = allowed[static_cast<unsigned char>(text[step]) % allowed.size()];
    if (!state.accept(pieces[static_cast<std::size_t>(chosen)])) __builtin_trap();
    const std::string forced = state.forced_bytes();
    grammar::GrammarState copy = state;
    if (!copy.accept(forced)) __builtin_trap();
  }
}

}  // namespace ingot
