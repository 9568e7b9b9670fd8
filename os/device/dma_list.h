// DmaList: memory as a device sees it, in pieces of physical memory that stay in place, with their content, until the
// list goes: whatever the program unmaps, discards or truncates meanwhile.
//
//   const DmaList list = TRY(DmaList::of_program(heap, frames, space, address, bytes, {Access::write}));
//   list.each_piece([&](PhysicalAddress physical, std::uint64_t bytes) { ring.add(physical, bytes); });
#pragma once

#include <cstdint>
#include <utility>

#include "base/result.h"
#include "os/memory/address_space.h"

namespace ingot::os {

// What the device will do, and the end of what it can address.
struct DmaUse {
  Access access = Access::read;  // Access::write: it writes
  PhysicalAddress reach{~std::uint64_t{0}};
};

class [[nodiscard]] DmaList {
 public:
  // Of a program, whose pages are made present; the device sees what the program does, as a thread of it would.
  static Result<DmaList> of_program(Allocator& heap, FrameSource& frames, AddressSpace& space, VirtualAddress address,
                                    std::uint64_t bytes, const DmaUse& use);
  // Of the kernel: its heap, a stack, frames in the window. Such memory never moves; its owner keeps it meanwhile.
  static Result<DmaList> of_kernel(Allocator& heap, FrameSource& frames, const NativePageTable& table,
                                   VirtualAddress address, std::uint64_t bytes, const DmaUse& use);

  DmaList(DmaList&& other) noexcept
      : heap_(other.heap_),
        frames_(other.frames_),
        first_(std::exchange(other.first_, nullptr)),
        last_(other.last_),
        pins_(other.pins_) {}
  DmaList& operator=(DmaList&&) = delete;
  ~DmaList();

  // visit(PhysicalAddress, std::uint64_t bytes), in order; neighbours are one piece.
  template <class Visit>
  void each_piece(Visit&& visit) const {
    PhysicalAddress begin;
    std::uint64_t bytes = 0;
    for (const Chunk* chunk = first_; chunk != nullptr; chunk = chunk->next) {
      for (std::size_t index = 0; index < chunk->count; ++index) {
        const PinnedPiece& piece = chunk->pieces[index];
        if (bytes != 0 && begin + bytes == piece.physical) {
          bytes += piece.bytes;
          continue;
        }
        if (bytes != 0) visit(begin, bytes);
        begin = piece.physical;
        bytes = piece.bytes;
      }
    }
    if (bytes != 0) visit(begin, bytes);
  }

  // visit(const PinnedPiece&), in order.
  template <class Visit>
  void each_pin(Visit&& visit) const {
    for (const Chunk* chunk = first_; chunk != nullptr; chunk = chunk->next) {
      for (std::size_t index = 0; index < chunk->count; ++index) visit(chunk->pieces[index]);
    }
  }
  // For a device that does not say any more whether it has ended: pins of which keeps(const PinnedPiece&) says so stay
  // for ever. The others, and the list, go as usual.
  template <class Keeps>
  void abandon(Keeps&& keeps) {
    each_pin([&](const PinnedPiece& piece) {
      if (!keeps(piece)) piece.unpin(*frames_);
    });
    pins_ = Pins::none;
  }

 private:
  // A list grows by these: nothing that is pinned is ever moved.
  struct Chunk {
    static constexpr std::size_t capacity = 64;
    Chunk* next = nullptr;
    std::size_t count = 0;
    PinnedPiece pieces[capacity];
  };
  enum class Pins : bool { none, held };

  DmaList(Allocator& heap, FrameSource& frames, Pins pins) : heap_(&heap), frames_(&frames), pins_(pins) {}
  Result<void> make_room();
  template <class PieceAt>
  Result<void> fill(std::uint64_t bytes, const DmaUse& use, PieceAt&& piece_at);

  Allocator* heap_;
  FrameSource* frames_;
  Chunk* first_ = nullptr;
  Chunk* last_ = nullptr;
  Pins pins_ = Pins::held;
};

}  // namespace ingot::os
