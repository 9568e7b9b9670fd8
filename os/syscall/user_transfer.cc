#include "os/syscall/user_transfer.h"

#include <algorithm>

#include "os/arch/arch.h"
#include "os/file/file_description.h"
#include "os/process/user_thread.h"

namespace ingot::os {

// What lies beyond the program's half is never tried.
static std::uint64_t in_user_half(std::uint64_t address, std::uint64_t bytes) {
  const std::uint64_t end = user_memory_end.value();
  return address >= end ? 0 : std::min(bytes, end - address);
}

std::size_t UserTransferMemory::copy_out(std::uint64_t address, std::span<const std::byte> from) {
  const std::uint64_t bytes = in_user_half(address, from.size());
  return bytes - arch::copy_user(reinterpret_cast<void*>(address), from.data(), bytes);
}

std::size_t UserTransferMemory::copy_in(std::span<std::byte> to, std::uint64_t address) {
  const std::uint64_t bytes = in_user_half(address, to.size());
  return bytes - arch::copy_user(to.data(), reinterpret_cast<const void*>(address), bytes);
}

bool UserTransferMemory::may_go_on() {
  if (thread_ == nullptr) return true;
  return thread_->may_go_on(file_ != nullptr && file_->is_moved_whole() ? EndsFor::the_end : EndsFor::signals);
}

UserPieces::~UserPieces() {
  if (pieces_.size() > few) heap_.free(pieces_.data(), pieces_.size_bytes(), alignof(TransferPiece));
}

void UserPieces::set(VirtualAddress address, std::uint64_t bytes) {
  few_[0] = {address.value(), std::min(bytes, most_bytes)};
  pieces_ = std::span(few_).first(1);
}

Answer<void> UserPieces::read(UserPointer<TransferPiece> list, std::uint64_t count) {
  if (count > most_pieces) return Errno::einval;
  pieces_ = std::span(few_).first(std::min<std::uint64_t>(count, few));
  if (count > few) {
    void* block = TRY(heap_.allocate(count * sizeof(TransferPiece), alignof(TransferPiece)));
    pieces_ = {static_cast<TransferPiece*>(block), count};
  }
  if (!copy_from_user(pieces_.data(), list.address, pieces_.size_bytes()).ok()) return Errno::efault;
  std::uint64_t total = 0;
  for (TransferPiece& piece : pieces_) {
    if (piece.bytes > static_cast<std::uint64_t>(INT64_MAX)) return Errno::einval;
    piece.bytes = std::min(piece.bytes, most_bytes - total);
    total += piece.bytes;
  }
  return {};
}

Transfer UserPieces::transfer(TransferMemory& memory, std::uint64_t done) const {
  Transfer transfer(memory, pieces_);
  transfer.skip(done);
  return transfer;
}

}  // namespace ingot::os
