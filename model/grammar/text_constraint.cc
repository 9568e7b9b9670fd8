#include "model/grammar/text_constraint.h"

#include <algorithm>

#include "base/utf8.h"

namespace ingot::grammar {

namespace {

// How much of a text is before a character at its end that is not whole.
std::size_t whole_characters(std::string_view text) {
  for (std::size_t back = 1; back < 4 && back <= text.size(); ++back) {
    const std::size_t begin = text.size() - back;
    if (!continues_character(text[begin])) return utf8_sequence_size(text[begin]) > back ? begin : text.size();
  }
  return text.size();
}

}  // namespace

TextConstraint::TextConstraint(std::shared_ptr<const Constraint> constraint)
    : constraint_(std::move(constraint)),
      is_in_thought_(constraint_->trigger().begins_in_thought && !constraint_->trigger().thought_end.empty()) {
  if (constraint_->trigger().text.empty()) state_.emplace(constraint_->grammar());
}

Result<std::shared_ptr<const TokenMask>> TextConstraint::allowed() {
  if (!state_) return std::shared_ptr<const TokenMask>();
  auto made = constraint_->mask(*state_);
  // What the mask of an ambiguous grammar took, many texts would keep for as long as their passes take: nothing is
  // read, and large tables are let go of.
  static_cast<void>(state_->accept({}));
  auto mask = TRY(std::move(made));
  if (mask->count() > 0) return mask;
  return Error::of(ErrorCode::unsupported,
                   "expected a vocabulary that can spell what the grammar asks for here, and a grammar with fewer ways "
                   "to get here where it is ambiguous, found no token that goes on");
}

bool TextConstraint::accept(TokenId token) {
  const Tokenizer& tokenizer = constraint_->tokenizer();
  if (tokenizer.is_end_of_generation(token)) return true;
  const std::string_view piece = tokenizer.piece(token);
  return state_ ? state_->accept(piece) : accept_free(piece);
}

TextConstraint::Forced TextConstraint::forced_tokens() const {
  if (!state_) return {};
  const std::string found = state_->forced_bytes();
  // Of a character that is forced in part the tokenizer knows nothing.
  const std::string_view forced = std::string_view(found).substr(0, whole_characters(found));
  const Tokenizer& tokenizer = constraint_->tokenizer();
  Result<std::vector<TokenId>> encoded = tokenizer.encode(forced, {.adds_special_tokens = false});
  if (!encoded.ok()) return {};
  std::vector<TokenId> tokens = std::move(encoded).value();
  std::string_view left = forced;
  for (const TokenId token : tokens) {
    const std::string_view piece = tokenizer.piece(token);
    // Special ones are none that a grammar takes.
    if (piece.empty() || !left.starts_with(piece) || tokenizer.is_special(token)) return {};
    left.remove_prefix(piece.size());
  }
  if (tokens.empty() || !left.empty()) return {};
  const std::string_view last = tokenizer.piece(tokens.back());
  GrammarState before = *state_;
  if (!before.accept(forced.substr(0, forced.size() - last.size()))) return {};
  GrammarState behind = before;
  if (!behind.accept(last)) return {};
  const bool is_all = forced.size() < found.size() || behind.forced_bytes(1).empty();
  if (may_be_longer(before, tokens.back())) tokens.pop_back();
  return {std::move(tokens), is_all};
}

bool TextConstraint::may_be_longer(const GrammarState& before, TokenId token) const {
  // Most of what begins like a token goes on with anything, or with nothing: more than this is looked at seldom.
  // Whoever asks may be the thread of passes, for which a step of an ambiguous grammar is a long one.
  constexpr std::size_t most_nodes = 256;
  constexpr std::size_t most_effort = 1 << 14;
  const std::span<const TokenTrie::Node> nodes = constraint_->trie().nodes();
  Stacks& stacks = before.stacks();
  std::vector<std::pair<std::uint32_t, StateId>> open;
  std::size_t looked_at = 0;
  const std::size_t effort_before = stacks.effort();
  const auto is_too_much = [&] { return looked_at > most_nodes || stacks.effort() - effort_before > most_effort; };
  // Nodes [first, last) are those below one, and what they lead to from the state there.
  const auto add_below = [&](std::uint32_t first, std::uint32_t last, StateId state) {
    for (std::uint32_t node = first; node < last; node = nodes[node].next) {
      ++looked_at;
      if (is_too_much()) return;
      if (const StateId next = stacks.step(state, nodes[node].byte); next != Stacks::dead)
        open.emplace_back(node, next);
    }
  };
  std::uint32_t first = 0;
  auto last = static_cast<std::uint32_t>(nodes.size());
  StateId state = before.state();
  for (const char byte : constraint_->tokenizer().piece(token)) {
    while (first < last && nodes[first].byte != static_cast<std::uint8_t>(byte)) first = nodes[first].next;
    if (first >= last) return false;
    state = stacks.step(state, nodes[first].byte);
    last = nodes[first].next;
    ++first;
  }
  add_below(first, last, state);
  while (!open.empty() && !is_too_much()) {
    const auto [node, next] = open.back();
    open.pop_back();
    if (nodes[node].token != no_token) return true;
    add_below(node + 1, nodes[node].next, next);
  }
  return is_too_much();
}

bool TextConstraint::accept_free(std::string_view piece) {
  const std::string text = last_ + std::string(piece);
  const bool was_in_thought = is_in_thought_;
  const bool might_think = may_think_;
  const std::size_t begin = find_trigger(text);
  if (begin == std::string_view::npos) return true;
  GrammarState state(constraint_->grammar());
  if (!state.accept(std::string_view(text).substr(begin))) {
    is_in_thought_ = was_in_thought;
    may_think_ = might_think;
    return false;
  }
  state_ = std::move(state);
  return true;
}

std::size_t TextConstraint::find_trigger(std::string_view text) {
  const Trigger& trigger = constraint_->trigger();
  const bool has_thoughts = !trigger.thought_begin.empty() && !trigger.thought_end.empty();
  const auto keep = [&](std::string_view rest, std::size_t most) {
    last_ = rest.substr(rest.size() - std::min(rest.size(), most));
    return std::string_view::npos;
  };
  std::size_t at = 0;
  while (true) {
    const std::string_view rest = text.substr(at);
    if (is_in_thought_) {
      const std::size_t end = rest.find(trigger.thought_end);
      if (end == std::string_view::npos) return keep(rest, trigger.thought_end.size() - 1);
      at += end + trigger.thought_end.size();
      is_in_thought_ = false;
      may_think_ = true;
      continue;
    }
    const std::string_view first = rest.substr(std::min(rest.find_first_not_of(" \n\t\r"), rest.size()));
    if (has_thoughts && may_think_ && first.starts_with(trigger.thought_begin)) {
      at = text.size() - first.size() + trigger.thought_begin.size();
      is_in_thought_ = true;
      continue;
    }
    const std::size_t begin = rest.find(trigger.text);
    if (begin != std::string_view::npos) return at + begin;
    if (has_thoughts && may_think_ && trigger.thought_begin.starts_with(first)) return keep(first, first.size());
    may_think_ = may_think_ && first.empty();
    return keep(rest, trigger.text.size() - 1);
  }
}

}  // namespace ingot::grammar
