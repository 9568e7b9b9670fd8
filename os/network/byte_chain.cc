#include "os/network/byte_chain.h"

#include <algorithm>
#include <cstring>

namespace ingot::os::network {

Answer<ByteChain::Piece*> ByteChain::make(Reference<Block> block, std::span<std::byte> part) {
  Piece* const piece = blocks_->make_piece<Piece>(std::move(block), part);
  return piece != nullptr ? Answer<Piece*>(piece) : Errno::enomem;
}

void ByteChain::hold(std::uint64_t bytes) {
  held_bytes_ += bytes;
  blocks_->hold(bytes);
}

void ByteChain::let_go(std::uint64_t bytes) {
  held_bytes_ -= bytes;
  blocks_->let_go(bytes);
}

Answer<void> ByteChain::add(Reference<Block> block, std::span<std::byte> part) {
  if (part.empty()) return {};
  Piece& piece = *TRY(make(std::move(block), part));
  pieces_.push_back(piece);
  bytes_ += part.size();
  hold(cost_of(piece));
  return {};
}

void ByteChain::append(ByteChain&& other) {
  while (Piece* const piece = other.pieces_.pop_front()) pieces_.push_back(*piece);
  bytes_ += std::exchange(other.bytes_, 0);
  const std::uint64_t held = other.held_bytes_;
  other.let_go(held);
  hold(held);
}

void ByteChain::remove(Piece& piece) {
  let_go(cost_of(piece));
  bytes_ -= piece.part.size();
  pieces_.remove(piece);
  blocks_->destroy_piece(piece);
}

void ByteChain::drop_front(std::uint64_t count) {
  while (count != 0) {
    Piece& piece = *pieces_.first();
    const std::uint64_t here = std::min<std::uint64_t>(count, piece.part.size());
    count -= here;
    if (here == piece.part.size()) {
      remove(piece);
    } else {
      piece.part = piece.part.subspan(here);
      bytes_ -= here;
    }
  }
}

void ByteChain::drop_back(std::uint64_t count) {
  while (count != 0) {
    Piece& piece = *pieces_.last();
    const std::uint64_t here = std::min<std::uint64_t>(count, piece.part.size());
    count -= here;
    if (here == piece.part.size()) {
      remove(piece);
    } else {
      piece.part = piece.part.first(piece.part.size() - here);
      bytes_ -= here;
    }
  }
}

Answer<void> ByteChain::move_front(std::uint64_t count, ByteChain& to) {
  // The piece that is cut needs memory: taken first, so that a failure leaves both chains as they were.
  if (count != 0 && count < bytes_) {
    const Place cut = find(count);
    if (cut.inside != 0) {
      Piece& rest = *TRY(make(cut.piece->block, cut.piece->part.subspan(cut.inside)));
      cut.piece->part = cut.piece->part.first(cut.inside);
      pieces_.insert_after(*cut.piece, rest);
      hold(cost_of(rest));
    }
  }
  while (count != 0) {
    Piece& piece = *pieces_.pop_front();
    count -= piece.part.size();
    bytes_ -= piece.part.size();
    let_go(cost_of(piece));
    to.pieces_.push_back(piece);
    to.bytes_ += piece.part.size();
    to.hold(cost_of(piece));
  }
  return {};
}

std::span<std::byte> ByteChain::front(std::size_t count) {
  Piece* const first = pieces_.first();
  if (count > bytes_ || first == nullptr) return {};
  if (count <= first->part.size()) return first->part.first(count);
  Answer<Reference<Block>> together = blocks_->create(count);
  if (!together.ok()) return {};
  const std::span<std::byte> room = together.value()->bytes();
  copy_out(0, room);
  const Answer<Piece*> piece = make(std::move(together).value(), room);
  if (!piece.ok()) return {};
  drop_front(count);
  pieces_.push_front(*piece.value());
  bytes_ += count;
  hold(cost_of(*piece.value()));
  return room;
}

std::span<std::byte> ByteChain::spare_room() {
  Piece* const last = pieces_.last();
  if (last == nullptr || last->block->references() != 1) return {};
  std::byte* const end = last->part.data() + last->part.size();
  const std::span<std::byte> all = last->block->bytes();
  return {end, all.data() + all.size()};
}

void ByteChain::grow_last(std::size_t count) {
  Piece& last = *pieces_.last();
  last.part = {last.part.data(), last.part.size() + count};
  bytes_ += count;
}

ByteChain::Place ByteChain::find(std::uint64_t byte) const {
  if (byte > bytes_ / 2) {
    std::uint64_t behind = bytes_;
    Piece* piece = pieces_.last();
    while (behind - piece->part.size() > byte) {
      behind -= piece->part.size();
      piece = pieces_.before(*piece);
    }
    return {piece, byte - (behind - piece->part.size())};
  }
  Piece* piece = pieces_.first();
  while (byte >= piece->part.size()) {
    byte -= piece->part.size();
    piece = pieces_.after(*piece);
  }
  return {piece, byte};
}

void ByteChain::copy_out(std::uint64_t from, std::span<std::byte> to) const {
  std::byte* place = to.data();
  visit(from, to.size(), [&](Block&, std::span<std::byte> part) {
    std::memcpy(place, part.data(), part.size());
    place += part.size();
  });
}

Answer<std::size_t> ByteChain::give(Transfer& to, std::uint64_t from, std::uint64_t count) const {
  std::size_t given = 0;
  Errno error{};
  bool goes_on = true;
  visit(from, std::min<std::uint64_t>(count, to.left()), [&](Block&, std::span<std::byte> part) {
    if (!goes_on) return;
    const Answer<std::size_t> moved = to.give(part);
    if (!moved.ok()) error = moved.error();
    if (moved.ok()) given += moved.value();
    goes_on = moved.ok() && moved.value() == part.size();
  });
  if (given == 0 && error != Errno{}) return error;
  return given;
}

}  // namespace ingot::os::network
