// SequenceMemory: what a session remembers of its sequences: pages of keys and values that all sequences draw from, and
// for recurrent models a state each.
#pragma once

#include <map>
#include <string>

#include "engine/page_pool.h"
#include "machine/memory.h"
#include "model/circuit/builder.h"
#include "model/plan/plan.h"

namespace ingot {

class SequenceMemory {
 public:
  // Makes room for every cache and state that the circuit names. Caches have the geometry the circuit was built with.
  static Result<SequenceMemory> create(const Circuit& circuit, const CacheGeometry& geometry);

  // Sequences are numbered from 0 to geometry.sequences - 1. The number of a removed one is used again.
  Result<int> add();
  Result<int> fork(int sequence);
  void remove(int sequence);
  bool has(int sequence) const;
  std::int64_t length(int sequence) const { return slots_[static_cast<std::size_t>(sequence)].length; }

  // Forgets what lies behind `length`. A state cannot be turned back: recurrent models accept only 0 and the length
  // itself.
  Result<void> truncate(int sequence, std::int64_t length);
  // Makes the next `tokens` positions writable: takes pages, and copies a shared one. Fails, changing nothing, where
  // there are not enough.
  Result<void> reserve(int sequence, std::int64_t tokens);
  // After a pass has written them.
  void advance(int sequence, std::int64_t tokens) { slots_[static_cast<std::size_t>(sequence)].length += tokens; }

  std::span<const std::int32_t> pages(int sequence) const { return slots_[static_cast<std::size_t>(sequence)].pages; }
  std::byte* cache(const CircuitTensor& tensor) const;
  std::byte* state(const CircuitTensor& tensor, int sequence) const;
  std::int64_t capacity() const { return geometry_.pages_per_sequence * geometry_.page_length; }
  std::size_t bytes() const;

 private:
  struct Slot {
    bool used = false;
    std::int64_t length = 0;
    std::vector<std::int32_t> pages;
    Memory states;
  };
  explicit SequenceMemory(const CacheGeometry& geometry)
      : geometry_(geometry), pool_(static_cast<std::int32_t>(geometry.pages)) {}
  Result<void> clear_states(Slot& slot);
  void copy_page(std::int32_t from, std::int32_t to);
  Result<int> unused_slot();

  CacheGeometry geometry_;
  PagePool pool_;
  std::map<std::string, Memory, std::less<>> caches_;
  std::map<std::string, std::size_t, std::less<>> state_offsets_;  // by name without its run
  std::size_t state_bytes_ = 0;
  std::vector<Slot> slots_;
};

}  // namespace ingot
