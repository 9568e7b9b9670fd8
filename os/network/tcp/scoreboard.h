// Scoreboard: what the peer says it has beyond what it has acknowledged (RFC 2018), and what follows for what is lost
// (RFC 6675). The number of ranges is bounded: beyond, a SACK is not believed, which only costs a retransmission.
#pragma once

#include <cstdint>
#include <optional>

#include "base/intrusive_list.h"
#include "os/network/block.h"
#include "os/network/tcp/sequence_number.h"

namespace ingot::os::network {

class Scoreboard {
 public:
  static constexpr unsigned most_ranges = 256;

  Scoreboard() = default;
  // Precondition: cleared.
  ~Scoreboard() = default;

  bool is_empty() const { return all_ == nullptr; }
  std::uint32_t bytes() const { return is_empty() ? 0 : all_->bytes; }
  // Precondition: not empty. Behind the last byte that the peer has.
  SequenceNumber end() { return all_->ranges.last()->range.end; }
  // Whether the peer has this byte.
  bool holds(SequenceNumber byte);

  // How many bytes of it are news.
  std::uint32_t add(SequenceRange range, HeapBlocks& blocks);
  void drop_before(SequenceNumber acknowledged, HeapBlocks& blocks);
  void clear(HeapBlocks& blocks);

  // Of [begin, end), how many bytes the peer has.
  std::uint32_t bytes_within(SequenceRange part);
  // What is not held before this place counts as lost: three ranges, or more than two segments' bytes, came behind it.
  SequenceNumber lost_before(SequenceNumber acknowledged, std::uint32_t segment_bytes);
  // The first hole of [begin, end).
  SequenceRange hole_within(SequenceRange part);

 private:
  struct Held : ListLink<struct ScoreboardTag> {
    explicit Held(SequenceRange its_range) : range(its_range) {}
    SequenceRange range;
  };
  // Taken from the heap by the first range, and given back with the last: most connections lose nothing.
  struct All {
    IntrusiveList<Held, ScoreboardTag> ranges;  // in order, none touching the next
    std::uint32_t bytes = 0;
    unsigned count = 0;
  };
  // nullptr: too many, or no memory.
  Held* insert(Held* before, SequenceRange range, HeapBlocks& blocks);
  void remove(Held& held, HeapBlocks& blocks);
  void free_if_empty(HeapBlocks& blocks);

  All* all_ = nullptr;
};

}  // namespace ingot::os::network
