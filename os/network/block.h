// Block: bytes that a device or a program filled, shared by all that refer to a part of them. They lie in one piece of
// physical memory, so that a device can be sent to them.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include "os/memory/allocator.h"
#include "os/memory/shared.h"
#include "os/network/socket_memory.h"
#include "os/syscall/errno.h"

namespace ingot::os::network {

class Block final : public Shared {
 public:
  // Who gets the bytes back when nobody refers to them any more. It outlives all of its blocks.
  class Owner {
   public:
    virtual void take_back(std::span<std::byte> bytes) = 0;

   protected:
    ~Owner() = default;
  };

  Block(std::span<std::byte> bytes, Owner& owner) : bytes_(bytes), owner_(owner) {}
  ~Block() { owner_.take_back(bytes_); }

  std::span<std::byte> bytes() const { return bytes_; }

 private:
  std::span<std::byte> bytes_;
  Owner& owner_;
};

// Blocks of the heap. It lies in the window on physical memory, whose large pieces are contiguous frames.
class HeapBlocks final : public Block::Owner {
 public:
  // Without a memory what is held counts for nobody: a driver's packets are on their way.
  explicit HeapBlocks(Allocator& heap, SocketMemory* memory = nullptr) : heap_(heap), memory_(memory) {}

  // For what is remembered beside blocks.
  Allocator& heap() { return memory_ != nullptr ? *memory_ : heap_; }
  bool is_scarce() const { return memory_ != nullptr && memory_->is_scarce(); }
  bool is_full() const { return memory_ != nullptr && memory_->is_full(); }
  bool may_hold(std::uint64_t bytes) const { return memory_ == nullptr || memory_->may_hold(bytes); }
  // Chains tell what they hold.
  void hold(std::uint64_t bytes) {
    if (memory_ != nullptr) memory_->hold(bytes);
  }
  void let_go(std::uint64_t bytes) {
    if (memory_ != nullptr) memory_->let_go(bytes);
  }
  // Apart, because an error's text takes hundreds of bytes of a stack; as allocate() below.
  [[gnu::noinline]] Answer<Reference<Block>> create(std::size_t bytes) {
    const std::span room(static_cast<std::byte*>(TRY(heap_.allocate(bytes))), bytes);
    Result<Reference<Block>> block = make_reference<Block>(heap_, room, *this);
    if (block.ok()) return std::move(block).value();
    take_back(room);
    return Errno::enomem;
  }
  void take_back(std::span<std::byte> bytes) override { heap_.free(bytes.data(), bytes.size()); }

  // nullptr: there is no memory.
  template <class Value, class... Arguments>
  Value* make(Arguments&&... arguments) {
    return make_in<Value>(heap(), std::forward<Arguments>(arguments)...);
  }
  template <class Value>
  void destroy(Value& value) {
    destroy_in(heap(), value);
  }
  // The same for what counts with the chain that it belongs to, and passes from one to another's.
  template <class Value, class... Arguments>
  Value* make_piece(Arguments&&... arguments) {
    return make_in<Value>(heap_, std::forward<Arguments>(arguments)...);
  }
  template <class Value>
  void destroy_piece(Value& value) {
    destroy_in(heap_, value);
  }

 private:
  template <class Value, class... Arguments>
  static Value* make_in(Allocator& heap, Arguments&&... arguments) {
    void* const room = allocate(heap, sizeof(Value), alignof(Value));
    if (room == nullptr) return nullptr;
    return std::construct_at(static_cast<Value*>(room), std::forward<Arguments>(arguments)...);
  }
  template <class Value>
  static void destroy_in(Allocator& heap, Value& value) {
    std::destroy_at(&value);
    heap.free(&value, sizeof(Value), alignof(Value));
  }
  [[gnu::noinline]] static void* allocate(Allocator& heap, std::size_t bytes, std::size_t alignment) {
    const Result<void*> room = heap.allocate(bytes, alignment);
    return room.ok() ? room.value() : nullptr;
  }

  Allocator& heap_;
  SocketMemory* memory_;
};

}  // namespace ingot::os::network
