// SequenceMemory: what a session remembers of its sequences: keys and values, of all positions or of the last ones, and
// for recurrent models a state each.
//
// Sequences that begin alike share what was computed: the pages of layers that keep all positions, and copies of what
// windows and states had come to (engine/sequence_checkpoints.h). Pages also name the text that a copy belongs to,
// where no layer keeps all positions too: they are as many then, and take no memory.
#pragma once

#include "engine/paged_cache.h"
#include "engine/sequence_checkpoints.h"
#include "model/plan/cache_geometry.h"

namespace ingot {

struct SharingOptions {
  std::uint64_t secret = 0;          // with one, nobody can choose texts that are slow to find (engine/prefix_index.h)
  std::int64_t checkpoints = 0;      // at most, where a model needs them to share
  std::vector<float> adapters = {};  // of a new sequence
};

class SequenceMemory {
 public:
  // Makes room for every cache and state that the circuit names. Its attention was lowered to the same geometry.
  static Result<SequenceMemory> create(const Circuit& circuit, const CacheGeometry& geometry,
                                       SharingOptions sharing = {}, MemoryHome home = {});

  // Sequences are numbered from 0 to geometry.sequences - 1. The number of a removed one is used again. Precondition of
  // whatever does not return a Result: the sequence exists.
  Result<int> add();
  Result<int> fork(int sequence);
  void remove(int sequence);
  bool has(int sequence) const;
  std::int64_t length(int sequence) const { return slots_[static_cast<std::size_t>(sequence)].length; }
  // How much each of the session's adapters counts in what the sequence holds, and in what it will (engine/adapter.h).
  // A fork has those of its origin. Precondition of a change: what it holds was computed with these, or it is empty.
  const std::vector<float>& adapters(int sequence) const { return slots_[static_cast<std::size_t>(sequence)].adapters; }
  void set_adapters(int sequence, const std::vector<float>& scales) {
    slots_[static_cast<std::size_t>(sequence)].adapters = scales;
  }

  // Whether sequences can share what others computed of the same text.
  bool shares_texts() const { return !needs_checkpoints() || checkpoints_.most() > 0; }
  // Whether they can do so only where a checkpoint was kept: windows and states cannot be turned back.
  bool needs_checkpoints() const { return rings_.has_layers() || state_bytes_ > 0; }
  // A new sequence that holds as many whole pages of the beginning of `tokens` as others computed and made known, up to
  // a checkpoint where one is needed. Texts of different salts never share. Precondition of these: shares_texts().
  KnownBeginning known_beginning(std::uint64_t salt, std::span<const std::int32_t> tokens) const;
  // Counts what changes that: while it stays, nobody needs to look again.
  std::uint64_t known_changes() const { return whole_.changes() + checkpoints_.changes(); }
  Result<int> add_beginning(std::uint64_t salt, std::span<const std::int32_t> tokens);
  // Makes the full pages of the sequence known, which holds these tokens.
  void publish(int sequence, std::uint64_t salt, std::span<const std::int32_t> tokens);
  // Keeps a copy of its windows and states, for others that begin alike. Precondition: needs_checkpoints(), and it ends
  // with a full page that is known.
  void keep_checkpoint(int sequence);

  // Forgets what lies behind `length`, which is 0 or from earliest_length() to the length that the sequence has. On an
  // error nothing has changed.
  Result<void> truncate(int sequence, std::int64_t length);
  // A state cannot be turned back at all, and a ring only as long as it holds what the next token sees.
  std::int64_t earliest_length(int sequence) const;
  bool can_truncate(int sequence, std::int64_t length) const {
    return length == 0 || (length >= earliest_length(sequence) && length <= this->length(sequence));
  }
  // Makes the next `tokens` positions writable. Fails, changing nothing, where there are not enough pages; and where a
  // device has no memory for them, when some of them are the sequence's already.
  Result<void> reserve(int sequence, std::int64_t tokens);
  // After a pass has written them.
  void advance(int sequence, std::int64_t tokens) { slots_[static_cast<std::size_t>(sequence)].length += tokens; }

  // All that is remembered of a sequence, by names that stand in one order: to keep it elsewhere. Precondition: the
  // host has it.
  struct Part {
    std::string name;
    std::vector<std::span<std::byte>> pieces;
  };
  std::vector<Part> parts(int sequence) const;
  bool is_on_host() const { return home_.is_host(); }
  // Gives an empty sequence this length, whose parts are still to be written. On an error it is empty as before.
  Result<void> lengthen_unwritten(int sequence, std::int64_t length);

  const PagedCache& whole() const { return whole_; }  // all positions
  const PagedCache& rings() const { return rings_; }  // of layers that see no further than a window
  std::byte* cache(const CircuitTensor& tensor) const;
  std::byte* state(const CircuitTensor& tensor, int sequence) const;
  bool has_states() const { return state_bytes_ > 0; }
  std::int64_t capacity() const { return geometry_.longest_sequence(); }
  // All of it: pages, rings, states and checkpoints; and what it can come to, since the last two come as they are
  // needed.
  std::size_t bytes() const;
  std::size_t most_bytes() const;

 private:
  struct Slot {
    bool used = false;
    std::int64_t length = 0;
    std::vector<float> adapters = {};
    HomeMemory states;
  };
  SequenceMemory(const CacheGeometry& geometry, std::uint64_t secret, MemoryHome home);
  // Known pages that a new sequence can continue behind.
  std::vector<std::int32_t> usable_pages(std::uint64_t salt, std::span<const std::int32_t> tokens) const;
  Result<void> require(int sequence) const;
  Result<void> clear_states(Slot& slot);
  Result<int> unused_slot();

  MemoryHome home_;
  CacheGeometry geometry_;
  PagedCache whole_;
  PagedCache rings_;
  std::map<std::string, std::size_t, std::less<>> state_offsets_;  // by name without its run
  std::size_t state_bytes_ = 0;
  std::vector<float> first_adapters_;
  std::vector<Slot> slots_;
  SequenceCheckpoints checkpoints_;
};

}  // namespace ingot
