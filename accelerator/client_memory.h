// ClientMemory: what a worker sees of its client, each range between pages that nobody may touch.
#pragma once

#include <optional>

#include "base/accelerator/client_ranges.h"
#include "base/accelerator/packet.h"
#include "machine/descriptor.h"

namespace ingot {

class ClientMemory {
 public:
  static constexpr std::size_t most_ranges = 4096;

  ClientMemory() = default;
  ClientMemory(const ClientMemory&) = delete;
  ClientMemory& operator=(const ClientMemory&) = delete;
  ~ClientMemory();

  // Shows the piece of the memory that the command names at the addresses that it names.
  Result<void> map(const Descriptor& memory, const accelerator::Command& command);
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
