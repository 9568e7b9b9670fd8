// SharedMemory: memory that an accelerator can be shown. Another process is given it by its descriptor; it is sealed
// against changes of its size, so whoever maps it need not fear that it goes. A machine's kernel needs no descriptor.
#pragma once

#include <cstddef>
#include <span>

#include "base/units.h"
#include "machine/descriptor.h"

namespace ingot {

class SharedMemory {
 public:
  // Zeroed; a whole number of pages.
  static Result<SharedMemory> create(Bytes bytes, const char* name);
  // This process's own, without a descriptor: a kernel shows its pages.
  static Result<SharedMemory> create_private(Bytes bytes);
  // Another's memory. Fails where it is not sealed against shrinking, or smaller than that.
  static Result<SharedMemory> of(Descriptor descriptor, Bytes bytes);

  SharedMemory() = default;
  SharedMemory(SharedMemory&& other) noexcept
      : descriptor_(std::move(other.descriptor_)), bytes_(std::exchange(other.bytes_, {})) {}
  SharedMemory& operator=(SharedMemory&& other) noexcept {
    SharedMemory taken(std::move(other));
    std::swap(descriptor_, taken.descriptor_);
    std::swap(bytes_, taken.bytes_);
    return *this;
  }
  ~SharedMemory();

  std::byte* data() const { return bytes_.data(); }
  std::uint64_t address() const { return reinterpret_cast<std::uintptr_t>(data()); }
  std::size_t size() const { return bytes_.size(); }
  bool contains(const std::byte* address) const { return address >= data() && address < data() + size(); }
  int descriptor() const { return descriptor_.get(); }

 private:
  Result<void> map(std::size_t bytes, int kind);

  Descriptor descriptor_;
  std::span<std::byte> bytes_;
};

// How many bytes the memory has, which must be sealed against shrinking.
Result<std::uint64_t> sealed_bytes(int descriptor);

}  // namespace ingot
