#include "os/device/dma_list.h"

#include <memory>

namespace ingot::os {

DmaList::~DmaList() {
  while (Chunk* chunk = first_) {
    for (std::size_t index = 0; pins_ == Pins::held && index < chunk->count; ++index) {
      chunk->pieces[index].unpin(*frames_);
    }
    first_ = chunk->next;
    std::destroy_at(chunk);
    heap_->free(chunk, sizeof(Chunk), alignof(Chunk));
  }
}

Result<void> DmaList::make_room() {
  if (last_ != nullptr && last_->count < Chunk::capacity) return {};
  Chunk* chunk = std::construct_at(static_cast<Chunk*>(TRY(heap_->allocate(sizeof(Chunk), alignof(Chunk)))));
  (last_ != nullptr ? last_->next : first_) = chunk;
  last_ = chunk;
  return {};
}

// piece_at(done, left): what lies so many bytes behind the beginning.
template <class PieceAt>
Result<void> DmaList::fill(std::uint64_t bytes, const DmaUse& use, PieceAt&& piece_at) {
  if (bytes == 0) return Error::of(ErrorCode::invalid_argument, "expected memory for a device, found 0 bytes");
  for (std::uint64_t done = 0; done < bytes;) {
    TRY(make_room());
    PinnedPiece& piece = last_->pieces[last_->count];
    piece = TRY(piece_at(done, bytes - done));
    ++last_->count;
    if (piece.bytes > use.reach - piece.physical || piece.physical > use.reach) {
      return Error::of(ErrorCode::out_of_range, "expected memory that the device reaches, below ", use.reach,
                       ", found ", piece.bytes, " bytes at ", piece.physical);
    }
    done += piece.bytes;
  }
  return {};
}

Result<DmaList> DmaList::of_program(Allocator& heap, FrameSource& frames, AddressSpace& space, VirtualAddress address,
                                    std::uint64_t bytes, const DmaUse& use) {
  DmaList list(heap, frames, Pins::held);
  TRY(list.fill(bytes, use,
                [&](std::uint64_t done, std::uint64_t left) { return space.pin(address + done, left, use.access); }));
  return list;
}

Result<DmaList> DmaList::of_kernel(Allocator& heap, FrameSource& frames, const NativePageTable& table,
                                   VirtualAddress address, std::uint64_t bytes, const DmaUse& use) {
  DmaList list(heap, frames, Pins::none);
  TRY(list.fill(bytes, use, [&](std::uint64_t done, std::uint64_t left) -> Result<PinnedPiece> {
    const std::optional<MappedPage> page = table.find(address + done);
    if (!page || !allows(page->attributes.access, use.access)) {
      return Error::of(ErrorCode::invalid_argument, "expected the kernel's memory for ", use.access, " at ",
                       address + done, ", found none");
    }
    const std::uint64_t offset = address + done - page->address, rest = bytes_of(page->size) - offset;
    return PinnedPiece{page->physical + offset, rest < left ? rest : left};
  }));
  return list;
}

}  // namespace ingot::os
