// Transfer: the other side of a read or a write. A file moves bytes through it and never knows whether they lie in a
// program's memory, which may be missing, or in the kernel's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "os/syscall/errno.h"

namespace ingot::os {

// A memory that is reached by copies. Both return how many bytes were copied: fewer than asked for means that the next
// one is not there.
class TransferMemory {
 public:
  virtual std::size_t copy_out(std::uint64_t address, std::span<const std::byte> from) = 0;
  virtual std::size_t copy_in(std::span<std::byte> to, std::uint64_t address) = 0;
  virtual std::size_t clear(std::uint64_t address, std::size_t bytes);
  // Asked between the pieces of a long transfer: others may have the CPU meanwhile. False: it ends with what was moved.
  virtual bool may_go_on() { return true; }

  // A value of the caller's own at an address: how ioctl passes its structures.
  template <class Value>
  Answer<void> write(std::uint64_t address, const Value& value) {
    if (copy_out(address, std::as_bytes(std::span(&value, 1))) == sizeof(Value)) return {};
    return Errno::efault;
  }
  template <class Value>
  Answer<Value> read(std::uint64_t address) {
    Value value;
    if (copy_in(std::as_writable_bytes(std::span(&value, 1)), address) == sizeof(Value)) return value;
    return Errno::efault;
  }

 protected:
  ~TransferMemory() = default;
};

// Addresses are pointers of the kernel's.
class KernelTransferMemory final : public TransferMemory {
 public:
  std::size_t copy_out(std::uint64_t address, std::span<const std::byte> from) override;
  std::size_t copy_in(std::span<std::byte> to, std::uint64_t address) override;
};

// As Linux's struct iovec.
struct TransferPiece {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
};

// What becomes of bytes that were read: gone, or there for the next one (MSG_PEEK).
enum class Reading : std::uint8_t { takes, looks };

class Transfer {
 public:
  // How much is moved before anybody asks whether it may go on. The kernel is not preempted, and a program may ask for
  // gibibytes.
  static constexpr std::uint64_t piece_bytes = 64 * 1024;

  // The pieces outlive it.
  Transfer(TransferMemory& memory, std::span<const TransferPiece> pieces);

  std::uint64_t left() const { return left_; }    // bytes that still fit or wait
  std::uint64_t moved() const { return moved_; }  // bytes so far

  // To the other side: the file is being read. Returns how many bytes went over, at most left(). Fewer than both means
  // a fault, or an end that was asked for: then nothing is left. A fault before the first byte of a call is EFAULT.
  // What is handed over at once and is no longer than a piece goes over at once.
  Answer<std::size_t> give(std::span<const std::byte> bytes);
  Answer<std::size_t> give_zeros(std::uint64_t bytes);
  // From the other side: the file is being written.
  Answer<std::size_t> take(std::span<std::byte> bytes);

  // How long a file may become by it; a file that is as long already answers EFBIG.
  void limit_file(std::uint64_t bytes) { most_file_bytes_ = bytes; }
  std::uint64_t most_file_bytes() const { return most_file_bytes_; }

  // Goes on behind what an earlier transfer of the same pieces has moved.
  void skip(std::uint64_t bytes);
  // For a file that moves a long transfer in parts, each under a lock: `bytes` at most, of which nobody asks whether to
  // go on, until bring_back() adds the rest and asks. Both say whether there is more. Precondition: half a piece at
  // most.
  bool hold_back(std::uint64_t bytes) {
    held_back_ = left_ > bytes ? left_ - bytes : 0;
    left_ -= held_back_;
    return held_back_ != 0;
  }
  bool bring_back();
  bool holds_back() const { return held_back_ != 0; }
  // The first `bytes` only, for a file that has less room: the rest stays behind.
  void shorten(std::uint64_t bytes) {
    if (bytes < left_) left_ = bytes;
  }

 private:
  template <class Copy>
  Answer<std::size_t> move(std::uint64_t bytes, Copy&& copy);

  TransferMemory& memory_;
  std::span<const TransferPiece> pieces_;  // the first one is under way
  std::uint64_t inside_ = 0;               // bytes of it that are done
  std::uint64_t left_ = 0;
  std::uint64_t held_back_ = 0;
  std::uint64_t moved_ = 0;
  std::uint64_t most_file_bytes_ = ~std::uint64_t{0};
  std::uint64_t unasked_ = 0;  // bytes since it was asked whether to go on
};

// A transfer to or from one range of the kernel's memory.
class KernelTransfer {
 public:
  // Bytes that are only written from stay as they are; who reads into them owns them.
  explicit KernelTransfer(std::span<const std::byte> bytes)
      : piece_{reinterpret_cast<std::uintptr_t>(bytes.data()), bytes.size()}, transfer_(memory_, {&piece_, 1}) {}
  KernelTransfer(const KernelTransfer&) = delete;
  KernelTransfer& operator=(const KernelTransfer&) = delete;

  operator Transfer&() { return transfer_; }
  Transfer& operator*() { return transfer_; }

 private:
  KernelTransferMemory memory_;
  TransferPiece piece_;
  Transfer transfer_;
};

}  // namespace ingot::os
