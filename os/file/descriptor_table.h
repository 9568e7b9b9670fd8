// DescriptorTable: a process's small numbers for its open files.
#pragma once

#include <cstdint>

#include "os/file/file_description.h"
#include "os/file/number_set.h"
#include "os/memory/allocator.h"
#include "os/schedule/locked.h"
#include "os/syscall/errno.h"

namespace ingot::os {

enum class OnExecute : std::uint8_t { keeps, closes };

class DescriptorTable {
 public:
  static constexpr std::uint32_t usual_limit = 1024;
  static constexpr std::uint32_t largest_limit = 1 << 20;

  explicit DescriptorTable(Allocator& heap, std::uint32_t limit = usual_limit)
      : heap_(heap), slots_(LockRank::descriptors, heap), limit_(limit) {}
  DescriptorTable(const DescriptorTable&) = delete;
  DescriptorTable& operator=(const DescriptorTable&) = delete;
  ~DescriptorTable();

  // EBADF for a number nobody has.
  Answer<Reference<FileDescription>> find(std::int32_t number);

  // The lowest free number from `lowest` on. EMFILE when all below the limit are taken.
  Answer<std::int32_t> add(Reference<FileDescription> file, OnExecute on_execute, std::int32_t lowest = 0);
  // At this very number; what was there is closed. EBADF beyond the limit; EBUSY: it is reserved.
  Answer<std::int32_t> put(std::int32_t number, Reference<FileDescription> file, OnExecute on_execute);
  // A number that nobody has yet and nobody else gets, for a file that is still to come; either ends it.
  Answer<std::int32_t> reserve();
  void fill(std::int32_t number, Reference<FileDescription> file, OnExecute on_execute);
  void release(std::int32_t number);
  // Answers what it was the number of.
  Answer<Reference<FileDescription>> close(std::int32_t number);
  // Every number from first to last, both included; numbers nobody has do not matter.
  void close_range(std::uint32_t first, std::uint32_t last);
  void mark_range(std::uint32_t first, std::uint32_t last);  // ... OnExecute::closes
  void close_for_execute();

  Answer<OnExecute> on_execute(std::int32_t number);
  Answer<void> set_on_execute(std::int32_t number, OnExecute on_execute);

  // The lowest used number from `number` on, for /proc/self/fd; -1 when there is none.
  std::int32_t next_used(std::int32_t number);
  std::uint32_t count();
  // How many steps all additions took to find their numbers.
  std::uint64_t search_steps() {
    return slots_.with([](Slots& it) { return it.looks; });
  }

  std::uint32_t limit() const { return limit_.load(MemoryOrder::relaxed); }
  // Numbers beyond a lowered limit stay open.
  void set_limit(std::uint32_t limit) { limit_.store(limit, MemoryOrder::relaxed); }

 private:
  struct Slot {
    Reference<FileDescription> file;
    OnExecute on_execute = OnExecute::keeps;
    bool is_reserved = false;
  };
  // Slots come in blocks, so that a large table is neither copied nor in one piece.
  static constexpr std::uint32_t block_slots = 64;
  struct Slots {
    explicit Slots(Allocator& heap) : taken(heap) {}
    NumberSet taken;
    Slot** blocks = nullptr;
    std::uint32_t block_count = 0;  // that there is room for
    std::uint64_t looks = 0;        // at words of the set, to find free numbers

    // nullptr: there is no room for it yet.
    Slot* place(std::uint32_t number) {
      const std::uint32_t block = number / block_slots;
      return block < block_count && blocks[block] != nullptr ? &blocks[block][number % block_slots] : nullptr;
    }
    Slot* at(std::int32_t number) {
      Slot* const slot = number < 0 ? nullptr : place(static_cast<std::uint32_t>(number));
      return slot != nullptr && slot->file ? slot : nullptr;
    }
  };
  Answer<Slot*> make_room(Slots& slots, std::uint32_t number);
  Answer<std::uint32_t> take_lowest(Slots& slots, std::uint32_t lowest);
  Reference<FileDescription> take(std::int32_t number);

  Allocator& heap_;
  Locked<Slots> slots_;
  Atomic<std::uint32_t> limit_;
};

}  // namespace ingot::os
