// Region: a range of addresses with one purpose; RegionMap: the regions of an address space, sorted and apart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/intrusive_list.h"
#include "base/result.h"
#include "os/memory/address.h"
#include "os/memory/allocator.h"
#include "os/memory/memory_object.h"
#include "os/memory/owned.h"
#include "os/memory/page_attributes.h"
#include "os/memory/shared.h"

namespace ingot::os {

class AddressSpace;

// Private: what is written here is seen here only; pages are copied before the first write where others see them, too.
enum class Sharing : std::uint8_t { private_copy, shared };

// The places where AddressSpace puts a region depend on it, too: large ones begin at a large page.
enum class PagePolicy : std::uint8_t {
  small,        // stacks, reservations: memory they never touch must not be spent
  large_first,  // a whole large page with the first touch, wherever it fits
};

struct RegionFields {
  VirtualAddress begin;
  std::uint64_t bytes = 0;
  std::uint64_t guard_bytes = 0;  // from `begin` on: never mapped, so that a stack that runs over is noticed
  Access access = Access::none;
  Sharing sharing = Sharing::private_copy;
  PagePolicy policy = PagePolicy::small;
  bool promised = false;  // memory for all of it counts as spent; else private memory does once it is touched
  MemoryObject* object = nullptr;
  std::uint64_t object_offset = 0;  // what lies at `begin`
  Reference<Shared> owner;          // of the object, where it goes with its last owner
  AddressSpace* space = nullptr;    // whose pages an object's invalidate() must take away
};

struct Region : RegionFields, ListLink<RegionsOfObject> {
  explicit Region(const RegionFields& fields) : RegionFields(fields) {}

  VirtualAddress last() const { return begin + (bytes - 1); }
  bool contains(VirtualAddress address) const { return address >= begin && address <= last(); }
  bool guards(VirtualAddress address) const { return address - begin < guard_bytes; }
  std::uint64_t offset_of(VirtualAddress address) const { return object_offset + (address - begin); }
  // A page of this size around the address lies wholly inside, behind the guard.
  bool holds_page(VirtualAddress address, PageSize size) const {
    const VirtualAddress page = address.rounded_down(bytes_of(size));
    return page >= begin + guard_bytes && page + (bytes_of(size) - 1) <= last();
  }
};

// Regions that are gone, until nobody holds a lock: with the last one that shows a file, all of the file may go.
class RemovedRegions {
 public:
  explicit RemovedRegions(Allocator& heap) : heap_(heap) {}
  ~RemovedRegions();
  void add(Region& region) { all_.push_back(region); }

 private:
  Allocator& heap_;
  IntrusiveList<Region, RegionsOfObject> all_;
};

// Not a lock, and it knows no page table. Its array grows on the heap; only adding can fail.
class RegionMap {
 public:
  explicit RegionMap(Allocator& heap) : heap_(&heap) {}
  ~RegionMap();

  std::size_t size() const { return count_; }
  Region& operator[](std::size_t index) const { return *regions_[index]; }

  // The first region that ends behind the address: the one that holds it, or the next. size() when there is none.
  std::size_t first_behind(VirtualAddress address) const;
  Region* find(VirtualAddress address) const;
  bool is_free(VirtualAddress begin, std::uint64_t bytes) const;
  // The lowest gap within [low, high) that has room, `phase` behind a multiple of `alignment`.
  std::optional<VirtualAddress> find_gap(std::uint64_t bytes, std::uint64_t alignment, std::uint64_t phase,
                                         VirtualAddress low, VirtualAddress high) const;

  // Precondition: is_free.
  Result<void> insert(const RegionFields& fields);
  // Makes an address a border: a region that holds it inside becomes two.
  Result<void> split_at(VirtualAddress address);
  // Out of the map and its object's list.
  Region& take(std::size_t index);

 private:
  Result<void> reserve(std::size_t count);

  Allocator* heap_;
  Region** regions_ = nullptr;
  std::size_t count_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace ingot::os
