// SharedHeap: pieces of memory that an accelerator's worker sees, taken from large ones that it was shown once.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "machine/accelerator/client.h"

namespace ingot {

class SharedHeap {
 public:
  explicit SharedHeap(AcceleratorClient& client) : client_(client) {}

  // Aligned to 256 bytes; what it holds is what its last owner left. Zero bytes are null.
  Result<std::byte*> allocate(std::size_t bytes);
  // Precondition: allocate() gave it, of so many bytes.
  void release(std::byte* data, std::size_t bytes);
  // Whether all of it lies in memory that the worker sees.
  bool contains(const std::byte* data, std::size_t bytes) const;

 private:
  struct Slab {
    SharedMemory memory;
    std::map<std::size_t, std::size_t> gaps;  // where free stretches begin, and their bytes
  };
  static std::byte* take(Slab& slab, std::size_t bytes);

  AcceleratorClient& client_;
  std::vector<Slab> slabs_;
};

}  // namespace ingot
