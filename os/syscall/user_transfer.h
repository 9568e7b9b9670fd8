// A program's memory as the other side of a transfer, and the lists of its pieces that readv and its kin hand over.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "os/file/transfer.h"
#include "os/memory/allocator.h"
#include "os/syscall/user_pointer.h"

namespace ingot::os {

class FileDescription;
class UserThread;

// Of the current thread's process.
class UserTransferMemory final : public TransferMemory {
 public:
  // For values and whatever else is never long.
  UserTransferMemory() = default;
  // The thread's CPU is shared out between pieces. A signal ends the transfer, unless the file says otherwise.
  explicit UserTransferMemory(UserThread& thread, const FileDescription* file = nullptr)
      : thread_(&thread), file_(file) {}

  std::size_t copy_out(std::uint64_t address, std::span<const std::byte> from) override;
  std::size_t copy_in(std::span<std::byte> to, std::uint64_t address) override;
  bool may_go_on() override;

 private:
  UserThread* thread_ = nullptr;
  const FileDescription* file_ = nullptr;
};

// Where the bytes of one call lie. Linux moves at most 2 GiB less a page in one.
class UserPieces {
 public:
  static constexpr std::uint64_t most_bytes = 0x7fff'f000;
  static constexpr std::uint64_t most_pieces = 1024;

  explicit UserPieces(Allocator& heap) : heap_(heap) {}
  UserPieces(const UserPieces&) = delete;
  UserPieces& operator=(const UserPieces&) = delete;
  ~UserPieces();

  void set(VirtualAddress address, std::uint64_t bytes);
  // EINVAL for too many, or for a piece that is none; EFAULT.
  Answer<void> read(UserPointer<TransferPiece> list, std::uint64_t count);

  std::span<const TransferPiece> pieces() const { return pieces_; }
  // Behind what was moved already.
  Transfer transfer(TransferMemory& memory, std::uint64_t done) const;

 private:
  static constexpr std::size_t few = 8;  // most programs hand over fewer: no heap for them

  Allocator& heap_;
  TransferPiece few_[few];
  std::span<TransferPiece> pieces_;
};

}  // namespace ingot::os
