// Accelerator: a worker of the host that computes on this machine's memory, as the kernel deals with it.
//
//   start   its worker gets to know the machine's memory (LocatedMemory)
//   show    pages of a program are pinned, and the worker maps them in one piece, for packets to name
//   hide    the worker answers that it has let go of them, and only then are they unpinned
//   close   all of them are hidden; another program may open it
//
// Where the worker is lost on the way, its broker says whether it is gone. If nobody says so, frames that it may still
// write to are never given back: whatever a worker does late, it does to memory that nobody uses.
#pragma once

#include <cstdint>
#include <span>

#include "base/accelerator/node.h"
#include "os/device/dma_list.h"
#include "os/gpu/located_memory.h"
#include "os/schedule/mutex.h"
#include "os/syscall/errno.h"

namespace ingot::os {

class Accelerator {
 public:
  struct Memory {
    Allocator& heap;
    FrameSource& frames;
    PhysicalWindow window;
  };
  Accelerator(accelerator::SharedWords shared, const Memory& memory, AcceleratorMachine& machine);
  Accelerator(const Accelerator&) = delete;
  Accelerator& operator=(const Accelerator&) = delete;
  // Precondition: it is closed.
  ~Accelerator() = default;

  // With the machine's map of memory. Before anybody opens it.
  Result<void> start(std::span<const MemoryRange> ranges);

  // One opener at a time: EBUSY. ENXIO: it is lost.
  Answer<void> open();
  void close();

  // As NodeMap says, of the caller's space. ENOMEM: where the program had more pinned than `most_pinned` bytes of its
  // own.
  Answer<void> show(AddressSpace& space, const accelerator::NodeMap& wanted, std::uint64_t most_pinned);
  Answer<void> hide(std::uint64_t address);

  void ring() { machine_.ring(); }
  bool is_lost() { return owner_.watch().is_lost(); }
  // Listens to the worker's heart, unless another thread does.
  void look();

  std::uint64_t located_bytes() const { return located_.bytes(); }
  // Of memory that is the program's own: of a large frame of which a part is pinned, all.
  std::uint64_t pinned_bytes() const { return pinned_bytes_; }

 private:
  struct Shown {
    Shown(const accelerator::NodeMap& asked, std::uint64_t own, DmaList&& list)
        : begin(asked.address), bytes(asked.bytes), own_bytes(own), flags(asked.flags), pins(std::move(list)) {}

    std::uint64_t begin, bytes;
    std::uint64_t own_bytes;
    std::uint32_t flags;
    DmaList pins;
    Shown* next = nullptr;
  };
  // The worker's list of pieces, which it reads before it answers.
  struct Table {
    FrameNumber first;
    unsigned order = 0;
    std::uint64_t pieces = 0;
  };

  const FrameInfo& kept_by(const PinnedPiece& piece) const;
  std::uint64_t own_bytes(const DmaList& pins) const;
  Answer<Table> make_table(const DmaList& pins);
  Answer<void> tell(const Shown& shown, const Table& table);
  Result<void> ask_to_hide(const Shown& shown);
  bool is_free(std::uint64_t begin, std::uint64_t bytes) const;
  // How many frames stay the worker's.
  std::uint64_t abandon(Shown& shown);
  void drop(Shown* shown);

  Memory memory_;
  AcceleratorMachine& machine_;
  accelerator::SharedWords shared_;
  MemoryOwner owner_;
  LocatedMemory located_;
  Shown* first_ = nullptr;
  std::uint64_t pinned_bytes_ = 0;
  bool is_open_ = false;
  Mutex changes_{LockRank::device};  // guards what stands above, and the worker's answers
};

}  // namespace ingot::os
