// Where an automaton may be: a set of threads, each a position and the stack of frames under it. Frames and sets are
// interned, so that stacks share their tails, equal sets are one number, and a step that was made once is a look-up.
//
// One thread at a time: steps add to the tables.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "model/grammar/grammar.h"
#include "model/grammar/intern_table.h"

namespace ingot::grammar {

using FrameId = std::uint32_t;
using StateId = std::uint32_t;

struct Frame {
  // Instead of a count, in a frame that a call pushed.
  static constexpr std::uint32_t is_call = static_cast<std::uint32_t>(-1);
  // A repetition whose bounds are looked at later: it may always go on, and where it might end is told by the state.
  static constexpr std::uint32_t is_free = 0x80000000u;

  PositionId position;  // of the loop; or where the call goes on
  std::uint32_t count;  // rounds that are complete
  FrameId parent;

  friend bool operator==(const Frame&, const Frame&) = default;
};

struct Thread {
  FrameId frame;
  PositionId position;  // one that reads bytes

  friend auto operator<=>(const Thread&, const Thread&) = default;
};

// Forgets all at once, for a step each.
class ThreadSet {
 public:
  void clear();
  bool insert(const Thread& thread);  // false: it was there
  std::size_t size() const { return count_; }

 private:
  struct Slot {
    Thread thread{};
    std::uint32_t stamp = 0;  // of the step that wrote it
  };

  std::vector<Slot> slots_;
  std::size_t count_ = 0;
  std::uint32_t stamp_ = 1;
};

class Stacks {
 public:
  static constexpr FrameId no_frame = InternTable::none;
  static constexpr StateId dead = 0;
  // A byte that would lead to more threads is refused: the grammar is narrower then, never wider.
  static constexpr std::size_t most_threads = 8192;
  static constexpr std::size_t most_places = 8 * most_threads;  // on the way to them
  // Past the first, whoever goes on for long moves to new tables; past the second every new step is refused, and
  // whoever has to go on moves.
  static constexpr std::size_t crowded_bytes = 16u << 20;
  static constexpr std::size_t most_bytes = 128u << 20;

  explicit Stacks(std::shared_ptr<const Grammar> grammar);

  const Grammar& grammar() const { return *grammar_; }
  const std::shared_ptr<const Grammar>& shared_grammar() const { return grammar_; }

  StateId step(StateId state, std::uint8_t byte) {
    const std::uint32_t byte_class = grammar_->class_of(byte);
    const std::uint32_t row = states_[state].row;
    if (row != no_row && rows_[row + byte_class] != unknown) return rows_[row + byte_class];
    return make_step(state, byte_class);
  }

  // Everything that can be reached from these places without reading a byte. The threads' positions may be of any kind.
  StateId state_from(std::span<const Thread> places);
  StateId begin() { return state_from(std::vector<Thread>{{no_frame, grammar_->begin()}}); }
  // Where what is under a frame goes on once it is complete, bounds of repetitions aside.
  StateId state_after(FrameId frame);
  FrameId frame(const Frame& frame);

  std::span<const Thread> threads(StateId state) const {
    return std::span(threads_).subspan(states_[state].first_thread, states_[state].thread_count);
  }
  const Frame& operator[](FrameId frame) const { return frames_[frame]; }
  bool can_end(StateId state) const { return states_[state].can_end; }
  // Whether a free repetition has completed a round just here.
  bool ends_round(StateId state) const { return states_[state].ends_round; }

  // Whether a byte was refused for the number of threads it leads to, or for the memory.
  bool has_overflown() const { return has_overflown_; }
  bool is_crowded() const { return size_in_bytes() > crowded_bytes; }
  bool is_full() const { return size_in_bytes() > most_bytes; }
  // Places that were looked at on the way to the state, at the most: those of several states together are not more than
  // their sum.
  std::size_t places(StateId state) const { return states_[state].places; }
  // What all steps so far have taken: the places that they looked at.
  std::size_t effort() const { return effort_; }
  std::size_t size_in_bytes() const;
  // The same state in other tables.
  StateId copy_to(Stacks& other, StateId state) const;

 private:
  static constexpr std::uint32_t no_row = InternTable::none;
  static constexpr StateId unknown = InternTable::none;

  struct State {
    std::uint32_t first_thread = 0;
    std::uint32_t thread_count = 0;
    std::uint32_t row = no_row;  // of its steps; made with the first
    std::uint32_t places = 0;
    bool can_end = false;
    bool ends_round = false;
  };

  StateId make_step(StateId state, std::uint32_t byte_class);
  void reach(Thread place);
  void reach_end(FrameId ended);
  bool close();
  StateId intern_reached();

  std::shared_ptr<const Grammar> grammar_;
  std::vector<Frame> frames_;
  InternTable frame_table_;
  std::vector<Thread> threads_;
  std::vector<State> states_;
  InternTable state_table_;
  std::vector<StateId> rows_;

  // What a step works with, kept for its memory.
  std::vector<Thread> open_;
  std::vector<Thread> reached_;
  std::vector<Thread> places_;
  ThreadSet seen_;
  bool can_end_ = false;
  bool ends_round_ = false;
  bool has_overflown_ = false;
  std::size_t effort_ = 0;
};

}  // namespace ingot::grammar
