#include "model/grammar/token_masks.h"

#include <algorithm>
#include <array>
#include <optional>

namespace ingot::grammar {

namespace {

void append(std::string& key, std::uint32_t word) { key.append(reinterpret_cast<const char*>(&word), sizeof(word)); }

// How many rounds the free repetition at the bottom of all stacks has completed, if all agree.
std::optional<std::uint32_t> rounds_of(const Stacks& stacks, StateId state) {
  std::optional<std::uint32_t> rounds;
  for (const Thread& thread : stacks.threads(state)) {
    FrameId frame = thread.frame;
    while (stacks[frame].parent != Stacks::no_frame) frame = stacks[frame].parent;
    const std::uint32_t count = stacks[frame].count & ~Frame::is_free;
    if (rounds && *rounds != count) return std::nullopt;
    rounds = count;
  }
  return rounds;
}

}  // namespace

// Nodes [first, last) are whole subtrees of one depth. `visit` is given each node that the bytes lead to, with the
// state there, and says whether to look below it.
template <class Visit>
Result<void> TokenMasks::walk(Stacks& stacks, StateId begin, std::uint32_t first, std::uint32_t last, Peak& peak,
                              Visit visit) {
  if (first == last) return {};
  const std::span<const TokenTrie::Node> nodes = trie_->nodes();
  const std::size_t top = nodes[first].depth;
  std::array<StateId, TokenTrie::longest_token + 1> states;
  states[0] = begin;
  for (std::uint32_t index = first; index < last;) {
    const TokenTrie::Node& node = nodes[index];
    const std::size_t depth = node.depth - top;
    const StateId state = stacks.step(states[depth], node.byte);
    if (++counts_.followed + stacks.effort() > effort_limit_) {
      return Error::of(ErrorCode::out_of_range, "expected a mask that takes at most ", most_effort_,
                       " steps, found one that takes more: the grammar is too ambiguous here");
    }
    if (state != Stacks::dead) peak.add(stacks, state);
    if (state == Stacks::dead || !visit(index, state)) {
      index = node.next;
    } else {
      states[depth + 1] = state;
      ++index;
    }
  }
  return {};
}

void TokenMasks::allow(const TokenTrie::Node& node, TokenMask& mask) const {
  for (TokenId token = node.token; token != no_token; token = trie_->same_as(token)) mask.allow(token);
}

Result<void> TokenMasks::follow(Stacks& stacks, StateId begin, std::uint32_t first, std::uint32_t last, TokenMask& mask,
                                Peak& peak) {
  return walk(stacks, begin, first, last, peak, [&](std::uint32_t index, StateId) {
    allow(trie_->nodes()[index], mask);
    return true;
  });
}

// States with the same key have the same mask. No token takes more rounds than it has bytes, so counts that are farther
// than that from both bounds are one.
std::optional<std::string> TokenMasks::key_of(const GrammarState& state) const {
  constexpr auto far = static_cast<std::uint32_t>(TokenTrie::longest_token + 1);
  const Stacks& stacks = state.stacks();
  std::string key(1, state.can_end() ? '\1' : '\0');
  FrameId before = Stacks::no_frame;
  bool is_first = true;
  for (const Thread& thread : stacks.threads(state.state())) {
    append(key, thread.position);
    if (!is_first && thread.frame == before) continue;
    is_first = false;
    before = thread.frame;
    append(key, Stacks::no_frame);
    for (FrameId id = thread.frame; id != Stacks::no_frame; id = stacks[id].parent) {
      const Frame& frame = stacks[id];
      if (key.size() > most_key_bytes) return std::nullopt;
      append(key, frame.position);
      append(key, frame.count == Frame::is_call ? frame.count : 0);
      if (frame.count == Frame::is_call) continue;
      const Loop& loop = (*grammar_).loop((*grammar_)[frame.position]);
      append(key, std::min(loop.least - std::min(loop.least, frame.count), far));
      append(key, loop.most == unbounded ? far : std::min(loop.most - frame.count, far));
    }
    append(key, Stacks::no_frame);
  }
  return key;
}

Result<std::shared_ptr<const TokenMask>> TokenMasks::mask(const GrammarState& state) {
  ++counts_.asked;
  std::optional<std::string> key = key_of(state);
  if (const auto found = key ? masks_.find(*key) : masks_.end(); found != masks_.end()) {
    ++counts_.found;
    return found->second;
  }
  auto mask = std::make_shared<TokenMask>(trie_->vocabulary_size());
  Stacks& stacks = state.stacks();
  effort_limit_ = counts_.followed + stacks.effort() + most_effort_;
  bool is_kept = key.has_value();
  if (!TRY(add_groups(stacks, state.state(), *mask))) {
    const std::size_t threads = stacks.threads(state.state()).size();
    *mask = TokenMask(trie_->vocabulary_size());
    Peak peak;
    TRY(follow(stacks, state.state(), 0, static_cast<std::uint32_t>(trie_->nodes().size()), *mask, peak));
    // Another state of this key has as many threads, which might meet less often: what overflows there need not here.
    is_kept = is_kept && !stacks.has_overflown() && !peak.may_overflow(threads);
  }
  if (state.can_end()) {
    for (const TokenId end : trie_->ends()) mask->allow(end);
  }
  if (masks_.size() >= most_masks) masks_.clear();
  if (is_kept) masks_.emplace(*std::move(key), mask);
  return std::shared_ptr<const TokenMask>(std::move(mask));
}

// Threads with one frame are a group. False where the groups by themselves would take more than the state as a whole:
// one walk through the tree, in which equal states meet. Nested repetitions have hundreds of frames at once, and may be
// left behind every byte. False too where the groups together might be more than a state may have.
Result<bool> TokenMasks::add_groups(Stacks& stacks, StateId state, TokenMask& mask) {
  // A copy: what is computed here adds to the tables that hold the original.
  const auto original = stacks.threads(state);
  const std::vector<Thread> threads(original.begin(), original.end());
  std::vector<Group> groups;
  for (std::size_t first = 0, last = 0; first < threads.size(); first = last) {
    while (last < threads.size() && threads[last].frame == threads[first].frame) ++last;
    if (groups.size() == most_groups) return false;
    groups.push_back(std::span(threads).subspan(first, last - first));
  }
  std::size_t behind = 0;
  for (const Group group : groups) {
    const InnerPart& part = *TRY(inner_part(stacks, group));
    if (!part.is_usable) return false;
    // Without a frame nothing is behind.
    if (group[0].frame != Stacks::no_frame) behind += part.nodes_behind_exits;
    if (behind > trie_->nodes().size()) return false;
  }
  Peak together;
  for (const Group group : groups) {
    const Peak peak = TRY(add_group(stacks, group, mask));
    together.threads += peak.threads;
    together.places += peak.places;
  }
  return !together.may_overflow(1);
}

// What they read until the frame goes is the inner part. Gives the most that the group can come to.
Result<TokenMasks::Peak> TokenMasks::add_group(Stacks& stacks, Group group, TokenMask& mask) {
  const FrameId id = group[0].frame;
  const InnerPart& part = *TRY(inner_part(stacks, group));
  const std::span<const TokenTrie::Node> nodes = trie_->nodes();
  if (id == Stacks::no_frame) {
    mask.allow_all_of(part.masks[0]);
    return part.peak;
  }
  const Frame frame = stacks[id];
  const StateId after = stacks.state_after(id);
  Peak behind;
  behind.add(stacks, after);
  if (frame.count == Frame::is_call) {
    mask.allow_all_of(part.masks[0]);
    for (const Exit& exit : part.exits) {
      TRY(follow(stacks, after, exit.node + 1, nodes[exit.node].next, mask, behind));
    }
  } else {
    const Loop& loop = grammar_->loop((*grammar_)[frame.position]);
    const std::uint32_t left = loop.most == unbounded ? unbounded : loop.most - frame.count;
    mask.allow_all_of(part.masks[std::min(left, most_masked_rounds)]);
    for (const auto& [rounds, token] : part.longer) {
      if (rounds > left) break;
      mask.allow(token);
    }
    for (const Exit& exit : part.exits) {
      if (exit.rounds > left || frame.count + exit.rounds < loop.least) continue;
      TRY(follow(stacks, after, exit.node + 1, nodes[exit.node].next, mask, behind));
    }
  }
  // What was left behind on the way of one token goes on beside what is still inside, and so does what ends with it.
  const std::size_t times = part.exits_on_a_path + 1;
  return Peak{part.peak.threads + times * behind.threads, part.peak.places + times * behind.places};
}

Result<const TokenMasks::InnerPart*> TokenMasks::inner_part(Stacks& stacks, Group group) {
  const FrameId id = group[0].frame;
  const bool is_loop = id != Stacks::no_frame && stacks[id].count != Frame::is_call;
  std::vector<PositionId> key{is_loop ? stacks[id].position : Grammar::end};
  for (const Thread& thread : group) key.push_back(thread.position);
  if (const auto found = inner_parts_.find(key); found != inner_parts_.end()) return &found->second;
  ++counts_.inner;
  InnerPart part;
  const FrameId bottom =
      is_loop ? stacks.frame({stacks[id].position, Frame::is_free, Stacks::no_frame}) : Stacks::no_frame;
  std::vector<Thread> places;
  for (const Thread& thread : group) places.push_back({bottom, thread.position});
  const StateId begin = stacks.state_from(places);
  if (is_loop) {
    TRY(find_inner_rounds(stacks, key[0], begin, part));
  } else {
    TRY(find_inner_tokens(stacks, begin, part));
  }
  count_exits_on_paths(part);
  inner_bytes_ += part.size_in_bytes();
  if (inner_parts_.size() >= most_inner_parts || inner_bytes_ > most_inner_bytes) {
    inner_parts_.clear();
    inner_bytes_ = part.size_in_bytes();
  }
  return &inner_parts_.emplace(std::move(key), std::move(part)).first->second;
}

void TokenMasks::add_exit(const Exit& exit, InnerPart& part) const {
  part.exits.push_back(exit);
  part.nodes_behind_exits += trie_->nodes()[exit.node].next - exit.node - 1;
}

// They stand in the order of the nodes, so those above one are the last that reach behind it.
void TokenMasks::count_exits_on_paths(InnerPart& part) const {
  std::vector<std::uint32_t> above;  // where each ends
  for (const Exit& exit : part.exits) {
    while (!above.empty() && above.back() <= exit.node) above.pop_back();
    above.push_back(trie_->nodes()[exit.node].next);
    part.exits_on_a_path = std::max(part.exits_on_a_path, above.size());
  }
}

Result<void> TokenMasks::find_inner_tokens(Stacks& stacks, StateId begin, InnerPart& part) {
  part.masks.emplace_back(trie_->vocabulary_size());
  const std::span<const TokenTrie::Node> nodes = trie_->nodes();
  const auto last = static_cast<std::uint32_t>(nodes.size());
  return walk(stacks, begin, 0, last, part.peak, [&](std::uint32_t index, StateId state) {
    allow(nodes[index], part.masks[0]);
    if (stacks.can_end(state) && nodes[index].next > index + 1) add_exit({index, 0}, part);
    return true;
  });
}

Result<void> TokenMasks::find_inner_rounds(Stacks& stacks, PositionId loop, StateId begin, InnerPart& part) {
  part.masks.assign(most_masked_rounds + 1, TokenMask(trie_->vocabulary_size()));
  const std::span<const TokenTrie::Node> nodes = trie_->nodes();
  // What must follow the repetition tells most places apart from those where a token can leave it: inside of a string
  // every character ends a round, and hardly any is in front of the closing quote.
  const StateId next = stacks.state_from(std::vector<Thread>{{Stacks::no_frame, (*grammar_)[loop].second}});
  const auto can_leave = [&](std::uint32_t index) {
    if (stacks.can_end(next)) return nodes[index].next > index + 1;
    for (std::uint32_t child = index + 1; child < nodes[index].next; child = nodes[child].next) {
      if (stacks.step(next, nodes[child].byte) != Stacks::dead) return true;
    }
    return false;
  };
  std::unordered_map<StateId, std::optional<std::uint32_t>> known;
  const auto last = static_cast<std::uint32_t>(nodes.size());
  TRY(walk(stacks, begin, 0, last, part.peak, [&](std::uint32_t index, StateId state) {
    if (!part.is_usable) return false;
    const auto [place, is_new] = known.try_emplace(state);
    if (is_new) place->second = rounds_of(stacks, state);
    if (!place->second) return part.is_usable = false;
    const bool is_between = stacks.ends_round(state);
    const std::uint32_t rounds = *place->second + (is_between ? 0 : 1);
    for (TokenId token = nodes[index].token; token != no_token; token = trie_->same_as(token)) {
      if (rounds <= most_masked_rounds) {
        part.masks[rounds].allow(token);
      } else {
        part.longer.emplace_back(rounds, token);
      }
    }
    if (is_between && can_leave(index)) add_exit({index, rounds}, part);
    return true;
  }));
  for (std::uint32_t rounds = 1; rounds <= most_masked_rounds; ++rounds) {
    part.masks[rounds].allow_all_of(part.masks[rounds - 1]);
  }
  std::ranges::sort(part.longer);
  return {};
}

}  // namespace ingot::grammar
