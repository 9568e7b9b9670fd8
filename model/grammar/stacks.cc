#include "model/grammar/stacks.h"

#include <algorithm>

namespace ingot::grammar {

namespace {

std::uint64_t hash_of(const Frame& frame) { return mix(mix(mix(0, frame.position), frame.count), frame.parent); }

std::uint64_t hash_of(std::span<const Thread> threads, bool can_end, bool ends_round) {
  std::uint64_t hash = mix(can_end ? 1 : 0, ends_round ? 1 : 0);
  for (const Thread& thread : threads) hash = mix(mix(hash, thread.frame), thread.position);
  return hash;
}

}  // namespace

void ThreadSet::clear() {
  ++stamp_;
  count_ = 0;
  if (stamp_ != 0) return;
  // The stamps came round: old ones would look new.
  std::ranges::fill(slots_, Slot{});
  stamp_ = 1;
}

bool ThreadSet::insert(const Thread& thread) {
  if (2 * (count_ + 1) > slots_.size()) {
    const std::vector<Slot> before = std::move(slots_);
    slots_.assign(before.empty() ? 64 : 2 * before.size(), {});
    count_ = 0;
    for (const Slot& slot : before) {
      if (slot.stamp == stamp_) insert(slot.thread);
    }
  }
  std::size_t place = mix(mix(0, thread.frame), thread.position) & (slots_.size() - 1);
  for (; slots_[place].stamp == stamp_; place = (place + 1) & (slots_.size() - 1)) {
    if (slots_[place].thread == thread) return false;
  }
  slots_[place] = {thread, stamp_};
  ++count_;
  return true;
}

Stacks::Stacks(std::shared_ptr<const Grammar> grammar) : grammar_(std::move(grammar)) {
  states_.emplace_back();  // dead
  state_table_.add(hash_of({}, false, false), dead, [](StateId) { return std::uint64_t{0}; });
}

std::size_t Stacks::size_in_bytes() const {
  return frames_.size() * sizeof(Frame) + threads_.size() * sizeof(Thread) + states_.size() * sizeof(State) +
         rows_.size() * sizeof(StateId) + frame_table_.size_in_bytes() + state_table_.size_in_bytes();
}

FrameId Stacks::frame(const Frame& frame) {
  const std::uint64_t hash = hash_of(frame);
  const FrameId found = frame_table_.find(hash, [&](FrameId id) { return frames_[id] == frame; });
  if (found != InternTable::none) return found;
  const auto id = static_cast<FrameId>(frames_.size());
  frames_.push_back(frame);
  frame_table_.add(hash, id, [&](FrameId other) { return hash_of(frames_[other]); });
  return id;
}

void Stacks::reach(Thread place) {
  if ((*grammar_)[place.position].is_alive && seen_.insert(place)) open_.push_back(place);
}

// Follows what reads nothing until only positions that read are left. False where that are too many.
bool Stacks::close() {
  while (!open_.empty()) {
    const Thread place = open_.back();
    open_.pop_back();
    if (reached_.size() > most_threads || seen_.size() > most_places) {
      has_overflown_ = true;
      return false;
    }
    const Position& position = (*grammar_)[place.position];
    switch (position.kind) {
      case Position::Kind::bytes: reached_.push_back(place); break;
      case Position::Kind::split:
        for (const PositionId branch : grammar_->branches(position)) reach({place.frame, branch});
        break;
      case Position::Kind::call: {
        // What ends right after a call is done with: the callee returns to the caller's caller, and a rule that calls
        // itself at its end repeats without a stack.
        const bool is_last = position.second == Grammar::end;
        reach({is_last ? place.frame : frame({position.second, Frame::is_call, place.frame}), position.first});
        break;
      }
      case Position::Kind::loop: {
        const Loop& loop = grammar_->loop(position);
        if (loop.least == 0) reach({place.frame, position.second});
        if ((*grammar_)[loop.body].is_alive) reach({frame({place.position, 0, place.frame}), loop.body});
        break;
      }
      case Position::Kind::end: reach_end(place.frame); break;
    }
  }
  return true;
}

void Stacks::reach_end(FrameId ended) {
  if (ended == no_frame) {
    can_end_ = true;
    return;
  }
  const Frame top = frames_[ended];
  if (top.count == Frame::is_call) return reach({top.parent, top.position});
  const Position& position = (*grammar_)[top.position];
  const Loop& loop = grammar_->loop(position);
  if ((top.count & Frame::is_free) != 0) {
    ends_round_ = true;
    return reach({frame({top.position, top.count + 1, top.parent}), loop.body});
  }
  const std::uint32_t count = top.count + 1;
  if (count >= loop.least) reach({top.parent, position.second});
  // Without an upper bound no more is counted than must be.
  if (loop.most == unbounded) {
    reach({frame({top.position, std::min(count, loop.least), top.parent}), loop.body});
  } else if (count < loop.most) {
    reach({frame({top.position, count, top.parent}), loop.body});
  }
}

StateId Stacks::state_from(std::span<const Thread> places) {
  seen_.clear();
  open_.clear();
  reached_.clear();
  can_end_ = ends_round_ = false;
  for (const Thread& place : places) reach(place);
  const bool is_closed = close();
  effort_ += 1 + places.size() + seen_.size();
  return is_closed ? intern_reached() : dead;
}

StateId Stacks::state_after(FrameId ended) {
  const Frame top = frames_[ended];
  const PositionId next = top.count == Frame::is_call ? top.position : (*grammar_)[top.position].second;
  return state_from(std::vector<Thread>{{top.parent, next}});
}

StateId Stacks::intern_reached() {
  std::ranges::sort(reached_);
  const std::uint64_t hash = hash_of(reached_, can_end_, ends_round_);
  const StateId found = state_table_.find(hash, [&](StateId id) {
    return states_[id].can_end == can_end_ && states_[id].ends_round == ends_round_ &&
           std::ranges::equal(threads(id), reached_);
  });
  const auto places = static_cast<std::uint32_t>(seen_.size());
  if (found != InternTable::none) {
    states_[found].places = std::max(states_[found].places, places);
    return found;
  }
  const auto id = static_cast<StateId>(states_.size());
  states_.push_back({static_cast<std::uint32_t>(threads_.size()), static_cast<std::uint32_t>(reached_.size()), no_row,
                     places, can_end_, ends_round_});
  threads_.insert(threads_.end(), reached_.begin(), reached_.end());
  state_table_.add(hash, id, [&](StateId other) {
    return hash_of(threads(other), states_[other].can_end, states_[other].ends_round);
  });
  return id;
}

StateId Stacks::make_step(StateId state, std::uint32_t byte_class) {
  if (states_[state].thread_count == 0) return dead;
  if (is_full()) {
    has_overflown_ = true;
    return dead;
  }
  const std::uint8_t byte = grammar_->representative(byte_class);
  std::vector<Thread>& places = places_;
  places.clear();
  for (const Thread& thread : threads(state)) {
    const Position& position = (*grammar_)[thread.position];
    if (grammar_->set(position).contains(byte)) places.push_back({thread.frame, position.second});
  }
  const StateId next = state_from(places);
  if (states_[state].row == no_row) {
    states_[state].row = static_cast<std::uint32_t>(rows_.size());
    rows_.resize(rows_.size() + grammar_->class_count(), unknown);
  }
  rows_[states_[state].row + byte_class] = next;
  return next;
}

StateId Stacks::copy_to(Stacks& other, StateId state) const {
  std::vector<Thread> copies;
  std::vector<FrameId> chain;
  for (const Thread& thread : threads(state)) {
    chain.clear();
    for (FrameId id = thread.frame; id != no_frame; id = frames_[id].parent) chain.push_back(id);
    FrameId copy = no_frame;
    for (auto id = chain.rbegin(); id != chain.rend(); ++id) {
      copy = other.frame({frames_[*id].position, frames_[*id].count, copy});
    }
    copies.push_back({copy, thread.position});
  }
  other.reached_ = std::move(copies);
  other.can_end_ = can_end(state);
  other.ends_round_ = ends_round(state);
  return other.intern_reached();
}

}  // namespace ingot::grammar
