// ByteChain: bytes in order, lying in parts of several blocks. What a device received, what a program has sent and not
// yet been told of, what waits to be read: all are chains, and pass from one to the next without being copied.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "base/intrusive_list.h"
#include "os/file/transfer.h"
#include "os/network/block.h"

namespace ingot::os::network {

class ByteChain {
 public:
  explicit ByteChain(HeapBlocks& blocks) : blocks_(&blocks) {}
  ByteChain(ByteChain&& other) noexcept : blocks_(other.blocks_) { append(std::move(other)); }
  ByteChain& operator=(ByteChain&& other) noexcept {
    clear();
    append(std::move(other));
    return *this;
  }
  ~ByteChain() { clear(); }

  HeapBlocks& blocks() const { return *blocks_; }
  std::uint64_t bytes() const { return bytes_; }
  bool is_empty() const { return bytes_ == 0; }
  // What its blocks take of memory, with what the chain itself does: this is charged, not what lies in them. A block
  // that several pieces share counts once for each.
  std::uint64_t held_bytes() const { return held_bytes_; }

  // Precondition: `part` lies in the block. Empty parts leave the chain as it is.
  Answer<void> add(Reference<Block> block, std::span<std::byte> part);
  // All of the other's, behind what is there. Precondition: blocks of one heap.
  void append(ByteChain&& other);
  // Precondition of these: so many are there.
  void drop_front(std::uint64_t count);
  void drop_back(std::uint64_t count);
  void clear() { drop_front(bytes_); }
  // The first `count` go to the end of `to`; where the cut lies within a piece, its block is shared.
  Answer<void> move_front(std::uint64_t count, ByteChain& to);

  // The first `count` bytes in one piece, to be read or changed: moved together if they are not. Nothing where there
  // are fewer, or no memory.
  std::span<std::byte> front(std::size_t count);
  // Room behind the last byte within its block that nobody else refers to: for a sender that adds small writes.
  std::span<std::byte> spare_room();
  // That many of the spare room are used now.
  void grow_last(std::size_t count);

  // Copies [from, from + count) to `to`. It drops nothing.
  void copy_out(std::uint64_t from, std::span<std::byte> to) const;
  Answer<std::size_t> give(Transfer& to, std::uint64_t from, std::uint64_t count) const;

  // use(Block&, std::span<std::byte>) for each piece of [from, from + count), in order. Precondition: they are there.
  template <class Use>
  void visit(std::uint64_t from, std::uint64_t count, Use&& use) const {
    if (count == 0) return;  // an empty chain has no place to begin at
    // Senders ask for what lies behind what is under way, so a long chain is entered from the end that is nearer.
    for (Place place = find(from); count != 0; place = {next(place.piece), 0}) {
      const std::uint64_t here = std::min<std::uint64_t>(count, place.piece->part.size() - place.inside);
      use(*place.piece->block, place.piece->part.subspan(place.inside, here));
      count -= here;
    }
  }

 private:
  struct Piece : ListLink<struct ByteChainTag> {
    Piece(Reference<Block> shared, std::span<std::byte> range) : block(std::move(shared)), part(range) {}
    Reference<Block> block;
    std::span<std::byte> part;
  };
  struct Place {
    Piece* piece;
    std::uint64_t inside;
  };
  // Precondition: the byte is there.
  Place find(std::uint64_t byte) const;
  Piece* next(Piece* piece) const { return pieces_.after(*piece); }
  static std::uint64_t cost_of(const Piece& piece) { return piece.block->bytes().size() + sizeof(Piece); }
  Answer<Piece*> make(Reference<Block> block, std::span<std::byte> part);
  void remove(Piece& piece);

  HeapBlocks* blocks_;
  void hold(std::uint64_t bytes);
  void let_go(std::uint64_t bytes);

  mutable IntrusiveList<Piece, ByteChainTag> pieces_;
  std::uint32_t bytes_ = 0, held_bytes_ = 0;  // no queue is allowed 4 GiB
};

}  // namespace ingot::os::network
