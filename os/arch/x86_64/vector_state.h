// VectorState: where a thread's vector registers are while others use them. The kernel is compiled without them, so
// only a thread that owns such a state pays for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "base/result.h"
#include "os/arch/x86_64/user_vector_layout.h"
#include "os/memory/allocator.h"

namespace ingot::os::arch {

// On each CPU, before the first use: what of the x87, SSE, AVX, AVX-512 and AMX registers it has can be used.
void enable_vector_registers();

class VectorState {
 public:
  // As after a reset, with the parts that every thread has; or with these. All CPUs of a machine have the same.
  static Result<VectorState> create(Allocator& heap);
  static Result<VectorState> create(Allocator& heap, std::uint32_t parts);
  // As large as another, and not to be restored from before all of its memory was written.
  static Result<VectorState> room_for(Allocator& heap, const VectorState& other) {
    return allocate(heap, other.parts_);
  }
  VectorState(VectorState&& other) noexcept;
  VectorState& operator=(VectorState&&) = delete;
  ~VectorState();

  void save();
  void restore() const;
  // As after a reset, from the next restore() on.
  void clear();
  // The area, as FXSAVE or XSAVE lays it out (user_vectors.h).
  std::span<std::byte> memory() { return {area_, bytes_}; }
  std::uint32_t parts() const { return parts_; }
  bool has_header() const { return instruction_ != Instruction::fxsave; }
  // With what it holds.
  void exchange_memory(VectorState& other) {
    std::swap(area_, other.area_);
    std::swap(bytes_, other.bytes_);
    std::swap(parts_, other.parts_);
  }

 private:
  // XSAVEOPT leaves out what has not changed since the last restore from the same place; every switch to a thread
  // restores, so that is what this state holds already.
  using Instruction = VectorLayout::Instruction;
  static Result<VectorState> allocate(Allocator& heap, std::uint32_t parts);
  VectorState(Allocator& heap, std::byte* area, std::size_t bytes, std::uint32_t parts, Instruction instruction)
      : heap_(&heap), area_(area), bytes_(bytes), parts_(parts), instruction_(instruction) {}

  Allocator* heap_;
  std::byte* area_;
  std::size_t bytes_;
  std::uint32_t parts_;
  Instruction instruction_;
};

}  // namespace ingot::os::arch
