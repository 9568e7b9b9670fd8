#include "os/memory/slab_allocator.h"

#include <memory>
#include <optional>

namespace ingot::os {
namespace {

constexpr auto& class_bytes = SlabAllocator::class_bytes;

// The smallest class for each size, in steps of the smallest.
constexpr auto class_of_size = [] {
  std::array<std::uint8_t, class_bytes.back() / class_bytes.front()> table{};
  for (std::size_t step = 0; step < table.size(); ++step) {
    while (class_bytes[table[step]] < (step + 1) * class_bytes.front()) ++table[step];
  }
  return table;
}();

// The smallest class that holds the bytes and whose blocks are aligned enough.
std::optional<unsigned> class_of(std::size_t bytes, std::size_t alignment) {
  if (bytes > class_bytes.back()) return std::nullopt;
  for (unsigned index = class_of_size[(bytes - 1) / class_bytes.front()]; index < class_bytes.size(); ++index) {
    const unsigned size = class_bytes[index];
    if ((size & (0 - size)) >= alignment) return index;
  }
  return std::nullopt;
}

// For what no class holds.
unsigned order_for(std::size_t bytes, std::size_t alignment) {
  unsigned order = 0;
  while ((page_bytes << order) < bytes || (page_bytes << order) < alignment) ++order;
  return order;
}

}  // namespace

SlabAllocator::~SlabAllocator() {
  // Blocks that leaked keep their pages: somebody may still use them.
  trim();
  for (SizeClass& each : classes_) {
    while (each.partial.pop_front() != nullptr) {
    }
  }
}

void SlabAllocator::trim() {
  for (SizeClass& each : classes_) {
    if (each.spare == nullptr) continue;
    return_slab(*each.spare);
    each.spare = nullptr;
  }
}

void* SlabAllocator::take(std::size_t bytes, std::size_t alignment) {
  const std::optional<unsigned> index = class_of(bytes, alignment);
  if (!index) return take_pages(order_for(bytes, alignment));
  SizeClass& size_class = classes_[*index];
  Slab* slab = size_class.partial.first();
  if (slab == nullptr) {
    slab = size_class.spare != nullptr ? size_class.spare : new_slab(*index);
    if (slab == nullptr) return nullptr;
    size_class.spare = nullptr;
    size_class.partial.push_front(*slab);
  }
  ++size_class.live;
  FreeBlock* block = slab->free;
  slab->free = block->next;
  ++slab->used;
  if (slab->free == nullptr) size_class.partial.remove(*slab);
  expect_poison(*block, class_bytes[*index]);
  return block;
}

void SlabAllocator::give_back(void* pointer, std::size_t bytes, std::size_t alignment) {
  const std::optional<unsigned> index = class_of(bytes, alignment);
  if (!index) return return_pages(pointer, order_for(bytes, alignment));
  Slab& slab = slab_of(pointer);
  if (slab.size_class != *index || slab.used == 0) __builtin_trap();
  SizeClass& size_class = classes_[*index];
  if (poison() == Poison::on) __builtin_memset(pointer, freed_byte, class_bytes[*index]);
  const bool was_full = slab.free == nullptr;
  slab.free = std::construct_at(static_cast<FreeBlock*>(pointer), slab.free);
  --slab.used;
  --size_class.live;
  if (was_full) size_class.partial.push_front(slab);
  if (slab.used != 0) return;
  size_class.partial.remove(slab);
  if (size_class.spare == nullptr) {
    size_class.spare = &slab;
  } else {
    return_slab(slab);
  }
}

void* SlabAllocator::take_pages(unsigned order) {
  const Result<FrameNumber> frames = frames_->allocate(order);
  if (!frames.ok()) return nullptr;
  page_count_ += std::uint64_t{1} << order;
  return window_.at<void>(frames.value());
}

void SlabAllocator::return_pages(void* pages, unsigned order) {
  page_count_ -= std::uint64_t{1} << order;
  frames_->release(FrameNumber::containing(window_.physical(pages)), order);
}

SlabAllocator::Slab* SlabAllocator::new_slab(unsigned size_class) {
  auto* const page = static_cast<char*>(take_pages(page_order));
  if (page == nullptr) return nullptr;
  if (poison() == Poison::on) __builtin_memset(page, freed_byte, page_bytes);
  Slab* slab = std::construct_at(&slab_of(page));
  slab->size_class = static_cast<std::uint16_t>(size_class);
  for (unsigned index = blocks_in_slab(size_class); index-- > 0;) {
    slab->free = std::construct_at(reinterpret_cast<FreeBlock*>(page + index * class_bytes[size_class]), slab->free);
  }
  return slab;
}

void SlabAllocator::return_slab(Slab& slab) {
  std::destroy_at(&slab);
  return_pages(reinterpret_cast<void*>(round_down(reinterpret_cast<std::uintptr_t>(&slab), page_bytes)), page_order);
}

// Whoever wrote into a block after freeing it is found when the block is taken again.
void SlabAllocator::expect_poison(const FreeBlock& block, std::size_t bytes) const {
  if (poison() == Poison::off) return;
  const auto* const content = reinterpret_cast<const unsigned char*>(&block);
  for (std::size_t index = sizeof(FreeBlock); index < bytes; ++index) {
    if (content[index] != freed_byte) __builtin_trap();
  }
}

unsigned SlabAllocator::blocks_in_slab(unsigned size_class) {
  return static_cast<unsigned>((page_bytes - sizeof(Slab)) / class_bytes[size_class]);
}

SlabAllocator::Slab& SlabAllocator::slab_of(void* block) {
  const std::uintptr_t page = round_down(reinterpret_cast<std::uintptr_t>(block), page_bytes);
  return *reinterpret_cast<Slab*>(page + page_bytes - sizeof(Slab));
}

}  // namespace ingot::os
