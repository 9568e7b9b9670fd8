// Block: bytes that a device or a program filled, shared by all that refer to a part of them. They lie in one piece of
// physical memory, so that a device can be sent to them.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include "os/memory/allocator.h"
#include "os/memory/shared.h"
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
  explicit HeapBlocks(Allocator& heap) : heap_(heap) {}

  Allocator& heap() { return heap_; }
  // Apart, because an error's text takes hundreds of bytes of a stack; as allocate() below.
  [[gnu::noinline]] Answer<Reference<Block>> create(std::size_t bytes) {
    const std::span room(static_cast<std::byte*>(TRY(heap_.allocate(bytes))), bytes);
    Result<Reference<Block>> block = make_reference<Block>(heap_, room, *this);
    if (block.ok()) return std::move(block).value();
    take_back(room);
    return Errno::enomem;
  }
  void take_back(std::span<std::byte> bytes) override { heap_.free(bytes.data(), bytes.size()); }

  // What is remembered beside blocks. nullptr: there is no memory.
  template <class Value, class... Arguments>
  Value* make(Arguments&&... arguments) {
    void* const room = allocate(sizeof(Value), alignof(Value));
    if (room == nullptr) return nullptr;
    return std::construct_at(static_cast<Value*>(room), std::forward<Arguments>(arguments)...);
  }
  template <class Value>
  void destroy(Value& value) {
    std::destroy_at(&value);
    heap_.free(&value, sizeof(Value), alignof(Value));
  }

 private:
  [[gnu::noinline]] void* allocate(std::size_t bytes, std::size_t alignment) {
    const Result<void*> room = heap_.allocate(bytes, alignment);
    return room.ok() ? room.value() : nullptr;
  }

  Allocator& heap_;
};

}  // namespace ingot::os::network
