// ClientMemory: what a worker sees of its client, each range between pages that nobody may touch.
#pragma once

#include <optional>
#include <span>

#include "base/accelerator/client_ranges.h"
#include "machine/descriptor.h"

namespace ingot {

// A stretch of a memory's file.
struct FilePiece {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

class ClientMemory {
 public:
  static constexpr std::size_t most_ranges = 4096;

  ClientMemory() = default;
  ClientMemory(const ClientMemory&) = delete;
  ClientMemory& operator=(const ClientMemory&) = delete;
  ~ClientMemory();

  // Shows pieces of a memory as one range of the client's, one after the other: whole pages each. Fails where the
  // memory is smaller, and, where it may be written, not sealed against shrinking.
  Result<void> map(int memory, std::span<const FilePiece> pieces, std::uint64_t address, bool writable);
  // What was there; nothing of it is mapped any more.
  Result<accelerator::ClientRange> unmap(std::uint64_t begin);
  // Where the client's bytes lie.
  Result<std::byte*> find(std::uint64_t begin, std::uint64_t bytes, accelerator::Access access) const;

  // The client's address of one of ours, where it is the client's. May be called in a signal handler.
  std::optional<std::uint64_t> clients_address(const void* ours) const;
  std::uint64_t bytes() const { return bytes_; }

 private:
  accelerator::ClientRanges<most_ranges> ranges_;
  std::uint64_t bytes_ = 0;
};

}  // namespace ingot
