// GuestAccelerator: the host's end of a booted machine's accelerator: a connection to a broker, and the machine's
// memory as a file, which the broker's worker has as well. Where nobody names a broker, one of its own, which ends with
// it.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "image/emulator.h"
#include "image/process.h"
#include "machine/accelerator/shared_memory.h"

namespace ingot {

class GuestAccelerator {
 public:
  // Of the path of a broker's socket; empty: a broker of its own, in a temporary folder.
  explicit GuestAccelerator(std::string socket) : socket_(std::move(socket)) {}
  GuestAccelerator(const GuestAccelerator&) = delete;
  GuestAccelerator& operator=(const GuestAccelerator&) = delete;
  ~GuestAccelerator();

  // What the emulator inherits, for a machine with so many bytes of memory. Once, by a process of one thread.
  Result<image::AcceleratorEnds> begin(std::uint64_t memory_bytes);

 private:
  Result<void> start_broker();

  std::string socket_;
  std::optional<image::TemporaryFolder> folder_;
  pid_t broker_ = 0;
  Descriptor connection_;
  SharedMemory memory_;
  Descriptor memorys_end_;
};

}  // namespace ingot
