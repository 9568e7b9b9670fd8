#include "os/file/transfer.h"

#include <algorithm>
#include <utility>

namespace ingot::os {

std::size_t TransferMemory::clear(std::uint64_t address, std::size_t bytes) {
  static constexpr std::byte zeros[256]{};
  std::size_t done = 0;
  while (done < bytes) {
    const std::size_t part = std::min(bytes - done, sizeof(zeros));
    const std::size_t copied = copy_out(address + done, std::span(zeros, part));
    done += copied;
    if (copied < part) break;
  }
  return done;
}

std::size_t KernelTransferMemory::copy_out(std::uint64_t address, std::span<const std::byte> from) {
  __builtin_memcpy(reinterpret_cast<void*>(address), from.data(), from.size());
  return from.size();
}

std::size_t KernelTransferMemory::copy_in(std::span<std::byte> to, std::uint64_t address) {
  __builtin_memcpy(to.data(), reinterpret_cast<const void*>(address), to.size());
  return to.size();
}

Transfer::Transfer(TransferMemory& memory, std::span<const TransferPiece> pieces) : memory_(memory), pieces_(pieces) {
  for (const TransferPiece& piece : pieces) left_ += piece.bytes;
}

void Transfer::skip(std::uint64_t bytes) {
  bytes = std::min(bytes, left_);
  left_ -= bytes;
  inside_ += bytes;
  while (!pieces_.empty() && inside_ >= pieces_.front().bytes) {
    inside_ -= pieces_.front().bytes;
    pieces_ = pieces_.subspan(1);
  }
}

bool Transfer::bring_back() {
  left_ += std::exchange(held_back_, 0);
  if (left_ == 0 || unasked_ < piece_bytes / 2) return left_ != 0;
  unasked_ = 0;
  if (!memory_.may_go_on()) left_ = 0;
  return left_ != 0;
}

// copy(address, offset, bytes) moves bytes from or to `offset` of the caller's range.
template <class Copy>
Answer<std::size_t> Transfer::move(std::uint64_t bytes, Copy&& copy) {
  const std::uint64_t wanted = std::min(bytes, left_);
  std::uint64_t done = 0;
  bool goes_on = true;
  while (done < wanted && goes_on) {
    const TransferPiece& piece = pieces_.front();
    const std::uint64_t part = std::min({wanted - done, piece.bytes - inside_, piece_bytes});
    const std::size_t copied = part == 0 ? 0 : copy(piece.address + inside_, done, static_cast<std::size_t>(part));
    done += copied;
    inside_ += copied;
    unasked_ += copied;
    if (copied < part) break;
    if (inside_ == piece.bytes) {
      pieces_ = pieces_.subspan(1);
      inside_ = 0;
    }
    const bool may_stop = done < left_ && (done == wanted || wanted > piece_bytes);
    if (!may_stop || unasked_ < piece_bytes) continue;
    unasked_ = 0;
    goes_on = memory_.may_go_on();
  }
  left_ = goes_on ? left_ - done : 0;
  moved_ += done;
  if (done == 0 && wanted != 0) return Errno::efault;
  return static_cast<std::size_t>(done);
}

Answer<std::size_t> Transfer::give(std::span<const std::byte> bytes) {
  return move(bytes.size(), [&](std::uint64_t address, std::uint64_t offset, std::size_t part) {
    return memory_.copy_out(address, bytes.subspan(offset, part));
  });
}

Answer<std::size_t> Transfer::give_zeros(std::uint64_t bytes) {
  return move(bytes,
              [&](std::uint64_t address, std::uint64_t, std::size_t part) { return memory_.clear(address, part); });
}

Answer<std::size_t> Transfer::take(std::span<std::byte> bytes) {
  return move(bytes.size(), [&](std::uint64_t address, std::uint64_t offset, std::size_t part) {
    return memory_.copy_in(bytes.subspan(offset, part), address);
  });
}

}  // namespace ingot::os
