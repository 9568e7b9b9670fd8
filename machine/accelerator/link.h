// AcceleratorLink: what leads from a client to its worker. It carries the shared words and bells, and shows memory.
#pragma once

#include <chrono>
#include <functional>

#include "base/accelerator/rings.h"
#include "machine/accelerator/shared_memory.h"

namespace ingot {

// Whole pages from where they are mapped on. A file that is only to be read need not be sealed: who makes it shorter
// ends the worker.
struct ShownMemory {
  std::span<const std::byte> bytes;
  int descriptor = -1;  // of the file that they are mapped from, from its first byte on
  bool writable = false;

  std::uint64_t address() const { return reinterpret_cast<std::uintptr_t>(bytes.data()); }
  std::uint32_t rights() const { return writable ? accelerator::right_write : 0; }
};

class AcceleratorLink {
 public:
  // Waits until something holds, as long as the worker lives; the links that must wait are given it.
  using WaitUntil = std::function<Result<void>(const std::function<bool()>&)>;

  AcceleratorLink() = default;
  AcceleratorLink(const AcceleratorLink&) = delete;
  AcceleratorLink& operator=(const AcceleratorLink&) = delete;
  virtual ~AcceleratorLink() = default;

  // The client's part at least.
  virtual accelerator::SharedWords words() const = 0;
  // What can be promised of this process's accesses to them.
  virtual accelerator::Promise promise() const = 0;

  virtual Result<void> ring() = 0;
  // Until the worker tells something, it is gone, or the time is over.
  virtual void wait(std::chrono::milliseconds limit) = 0;
  virtual bool is_left() = 0;

  // Memory that map() can show to be written.
  virtual Result<SharedMemory> make_memory(Bytes bytes, const char* name) = 0;
  // The worker sees it from now on, at this process's addresses.
  virtual Result<void> map(const ShownMemory& memory, const WaitUntil& wait_until) = 0;
  // What was shown from there on.
  virtual Result<void> unmap(const std::byte* begin, const WaitUntil& wait_until) = 0;
};

}  // namespace ingot
