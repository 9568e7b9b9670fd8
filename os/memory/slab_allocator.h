// SlabAllocator: the kernel's heap. Each size class cuts pages ("slabs") into equal blocks, so taking and giving back
// are a few instructions and nothing fragments; what is larger than the largest class gets pages of its own. Pages are
// frames as the window shows them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/intrusive_list.h"
#include "os/memory/allocator.h"
#include "os/memory/frame_source.h"
#include "os/memory/physical_window.h"

namespace ingot::os {

class SlabAllocator final : public CountingAllocator {
 public:
  // Powers of two, and their middles: a block wastes at most a third. Between them what a connection to a peer is made
  // of, of which there may be tens of thousands: an epoll's item, and TCP's.
  static constexpr std::array<std::uint16_t, 14> class_bytes = {16,  32,  48,  64,  96,  128, 160,
                                                                192, 256, 384, 512, 576, 768, 1024};

  SlabAllocator(FrameSource& frames, PhysicalWindow window, Poison poison)
      : CountingAllocator(poison), frames_(&frames), window_(window) {}
  ~SlabAllocator();

  std::uint64_t page_count() const { return page_count_; }  // taken from the source and not given back
  std::uint64_t live_blocks(unsigned size_class) const { return classes_[size_class].live; }
  // Gives the empty slabs back that are kept for the next allocation.
  void trim();

 private:
  struct FreeBlock {
    FreeBlock* next;
  };
  // Lies at the end of its page: so blocks begin at the page's start and are aligned like their size.
  struct Slab : ListLink<> {
    FreeBlock* free = nullptr;
    std::uint16_t used = 0;
    std::uint16_t size_class = 0;
  };
  struct SizeClass {
    IntrusiveList<Slab> partial;  // slabs with a free block
    std::uint64_t live = 0;       // blocks in use
    Slab* spare = nullptr;        // one that is empty, kept so that a single block does not take and return pages
  };

  void* take(std::size_t bytes, std::size_t alignment) override;
  void give_back(void* block, std::size_t bytes, std::size_t alignment) override;
  void* take_pages(unsigned order);
  void return_pages(void* pages, unsigned order);
  Slab* new_slab(unsigned size_class);
  void return_slab(Slab& slab);
  void expect_poison(const FreeBlock& block, std::size_t bytes) const;
  static unsigned blocks_in_slab(unsigned size_class);
  static Slab& slab_of(void* block);

  FrameSource* frames_;
  PhysicalWindow window_;
  std::uint64_t page_count_ = 0;
  std::array<SizeClass, class_bytes.size()> classes_;
};

}  // namespace ingot::os
