// SequenceCheckpoints: copies of what cannot be shared by pages, the windows and states of a sequence, as they were
// after a text. Whoever begins with that text continues from the copy.
//
// There are at most so many; where one more is wanted, the one that was used longest ago makes way. Nobody has a right
// to one: what is not there is computed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <unordered_map>

#include "machine/gpu/memory_home.h"

namespace ingot {

class SequenceCheckpoints {
 public:
  SequenceCheckpoints() = default;
  // Their memory is taken when they are.
  SequenceCheckpoints(std::int64_t most, std::size_t bytes_each, MemoryHome home = {})
      : most_(most), bytes_each_(bytes_each), home_(home) {}

  std::int64_t most() const { return most_; }
  // Texts have the numbers that PrefixIndex gives them.
  bool has(std::uint64_t text) const { return by_text_.contains(text); }
  // What was kept of the text, which counts as a use of it; null: nothing.
  const std::byte* use(std::uint64_t text);
  // Where to write what is to be kept of the text. Null where there is no memory at all. Precondition: it has none yet.
  std::byte* add(std::uint64_t text);

  // Counts what changes the answer of has().
  std::uint64_t changes() const { return changes_; }

  std::size_t bytes() const;
  std::size_t most_bytes() const { return static_cast<std::size_t>(most_) * bytes_each_; }

 private:
  struct Checkpoint {
    std::uint64_t text = 0;
    HomeMemory memory;
  };
  using Order = std::list<Checkpoint>;

  std::int64_t most_ = 0;
  std::size_t bytes_each_ = 0;
  MemoryHome home_;
  Order checkpoints_;  // the last used first
  std::unordered_map<std::uint64_t, Order::iterator> by_text_;
  std::uint64_t changes_ = 0;
};

}  // namespace ingot
