// ReceiveQueue: the bytes of a stream from the peer. What comes in order waits to be read; what comes before its time
// is kept by ranges, a bounded number of them, and told to the peer, the latest first (RFC 2018).
#pragma once

#include <cstdint>
#include <span>

#include "base/intrusive_list.h"
#include "os/network/byte_chain.h"
#include "os/network/tcp/sequence_number.h"

namespace ingot::os::network {

class ReceiveQueue {
 public:
  static constexpr unsigned most_early = 128;

  explicit ReceiveQueue(HeapBlocks& blocks) : in_order_(blocks) {}
  ~ReceiveQueue() { drop_early(); }

  SequenceNumber next() const { return next_; }
  // Of a stream that begins, or behind a FIN.
  void set_next(SequenceNumber next) { next_ = next; }

  // What waits to be read.
  ByteChain& in_order() { return in_order_; }
  const ByteChain& in_order() const { return in_order_; }
  bool has_early() const { return all_early_ != nullptr; }
  std::uint64_t held_bytes() const { return in_order_.held_bytes() + (has_early() ? all_early_->held : 0); }

  struct Taken {
    SequenceRange duplicate;  // what of it was there already, the first stretch (RFC 2883)
    bool is_kept = true;      // else there was no memory, or there are too many ranges
  };
  // Precondition: it ends within the window.
  Taken take(SequenceNumber begin, ByteChain&& bytes);
  void drop_early();
  // Copies together what lies thinly in large blocks. False: it still holds more memory than `most`.
  bool compact(std::uint64_t most);

  // Fills `to` with what came early, the latest first. Returns how many.
  std::size_t early_ranges(std::span<SequenceRange> to);

 private:
  struct Early : ListLink<struct EarlyOrderTag>, ListLink<struct EarlyNewsTag> {
    Early(SequenceNumber its_begin, HeapBlocks& blocks) : begin(its_begin), bytes(blocks) {}
    SequenceNumber end() const { return begin + static_cast<std::uint32_t>(bytes.bytes()); }
    SequenceNumber begin;
    ByteChain bytes;
  };
  // Taken from the heap by the first that comes early, and given back with the last: most connections have none.
  struct AllEarly {
    IntrusiveList<Early, EarlyOrderTag> by_sequence;  // none touches the next
    IntrusiveList<Early, EarlyNewsTag> news;          // the latest first
    std::uint64_t held = 0;
    unsigned count = 0;
  };
  Taken take_early(SequenceNumber begin, ByteChain&& bytes);
  void join_in_order();
  // nullptr: too many, or no memory.
  Early* insert(Early* before, SequenceNumber begin, ByteChain&& bytes);
  void extend(Early& early, ByteChain&& bytes);
  void remove(Early& early);
  void free_if_empty();
  void compact(ByteChain& chain);

  HeapBlocks& blocks() { return in_order_.blocks(); }

  ByteChain in_order_;
  AllEarly* all_early_ = nullptr;
  SequenceNumber next_;
};

}  // namespace ingot::os::network
