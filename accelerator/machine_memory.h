// MachineMemory: a booted machine's memory, as the file that its emulator has it in. Where a range of the machine's own
// addresses lies in the file is nobody's to say: it is found by numbers that the machine wrote there.
#pragma once

#include <vector>

#include "accelerator/client_memory.h"
#include "base/accelerator/memory_packet.h"

namespace ingot {

class MachineMemory {
 public:
  // The file, once; how many bytes it has. Fails where it is not sealed against shrinking.
  Result<std::uint64_t> adopt(Descriptor memory);

  // Looks for the frame that begins with the nonce; where the range that it is in begins. Emulators lay memory out in a
  // few ways, which are tried first: a match there is one. Else all frames that were ever written are looked at, and
  // exactly one must match.
  Result<std::uint64_t> locate(const accelerator::MemoryCommand& command);

  // What the table names, in its order; neighbours are one. The machine may write the table meanwhile.
  Result<std::vector<FilePiece>> read_table(const accelerator::MemoryCommand& command) const;

  int descriptor() const { return memory_.get(); }

 private:
  Result<bool> begins_with(std::uint64_t offset, std::uint64_t nonce) const;
  Result<std::uint64_t> find_frame(std::uint64_t frame, std::uint64_t nonce) const;
  Result<std::uint64_t> search(std::uint64_t nonce) const;

  Descriptor memory_;
  std::uint64_t bytes_ = 0;
  accelerator::ClientRanges<accelerator::most_located> located_;  // from physical addresses to offsets
};

}  // namespace ingot
