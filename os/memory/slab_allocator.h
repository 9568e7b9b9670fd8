// SlabAllocator: the kernel's heap. Each size class cuts pages ("slabs") into equal blocks, so taking and giving back
// are a few instructions and nothing fragments; what is larger than the largest class gets pages of its own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/intrusive_list.h"
#include "os/memory/allocator.h"
#include "os/memory/page_source.h"

namespace ingot::os {

class SlabAllocator final : public CountingAllocator {
 public:
  // Powers of two, and their middles: a block wastes at most a third.
  static constexpr std::array<std::uint16_t, 12> class_bytes = {16, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024};

  SlabAllocator(PageSource& pages, Poison poison) : CountingAllocator(poison), pages_(&pages) {}
  ~SlabAllocator();

  std::uint64_t page_count() const { return page_count_; }  // taken from the source and not given back
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
    Slab* spare = nullptr;        // one that is empty, kept so that a single block does not take and return pages
  };

  void* take(std::size_t bytes, std::size_t alignment) override;
  void give_back(void* block, std::size_t bytes, std::size_t alignment) override;
  Slab* new_slab(unsigned size_class);
  void return_slab(Slab& slab);
  void expect_poison(const FreeBlock& block, std::size_t bytes) const;
  static unsigned blocks_in_slab(unsigned size_class);
  static Slab& slab_of(void* block);

  PageSource* pages_;
  std::uint64_t page_count_ = 0;
  std::array<SizeClass, class_bytes.size()> classes_;
};

}  // namespace ingot::os
