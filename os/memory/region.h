// Region: a range of addresses with one purpose.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/intrusive_list.h"
#include "os/memory/address.h"
#include "os/memory/allocator.h"
#include "os/memory/memory_object.h"
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
  Access most_access = every_access;  // that it may be given later: less for a shared file opened to be read
  Sharing sharing = Sharing::private_copy;
  PagePolicy policy = PagePolicy::small;
  bool promised = false;  // memory for all of it counts as spent; else private memory does once it is touched
  bool locked = false;    // by mlock: its pages stay until the program says otherwise
  MemoryObject* object = nullptr;
  std::uint64_t object_offset = 0;  // what lies at `begin`
  Reference<Shared> owner;          // of the object, where it goes with its last owner
  AddressSpace* space = nullptr;    // whose pages an object's invalidate() must take away
};

struct Region : RegionFields, ListLink<RegionsOfObject> {
  explicit Region(const RegionFields& fields) : RegionFields(fields) {}

  VirtualAddress end() const { return begin + bytes; }
  VirtualAddress last() const { return begin + (bytes - 1); }
  bool guards(VirtualAddress address) const { return address - begin < guard_bytes; }
  std::uint64_t offset_of(VirtualAddress address) const { return object_offset + (address - begin); }
  // A page of this size around the address lies wholly inside, behind the guard.
  bool holds_page(VirtualAddress address, PageSize size) const {
    const VirtualAddress page = address.rounded_down(bytes_of(size));
    return page >= begin + guard_bytes && page + (bytes_of(size) - 1) <= last();
  }
  // What lies right above differs in nothing but its place: the two can be one.
  bool is_continued_by(const Region& upper) const {
    const bool same_content =
        object->pages() == MemoryObject::Pages::fresh || upper.object_offset == object_offset + bytes;
    return end() == upper.begin && upper.guard_bytes == 0 && object == upper.object && same_content &&
           owner == upper.owner && access == upper.access && most_access == upper.most_access &&
           sharing == upper.sharing && policy == upper.policy && promised == upper.promised && locked == upper.locked;
  }

 private:
  friend class RegionMap;
  // Of the regions below this one in the map's tree, and itself.
  struct Below {
    VirtualAddress begin, end;
    std::uint64_t largest_gap = 0;  // between two of them
    unsigned levels = 1;
  };
  Region* children_[2] = {};  // lower and higher addresses
  Below below_;
};

// Regions that are gone, until nobody holds a lock: with the last one that shows a file, all of the file may go.
class RemovedRegions {
 public:
  explicit RemovedRegions(Allocator& heap) : heap_(heap) {}
  ~RemovedRegions() {
    while (Region* region = all_.pop_front()) {
      std::destroy_at(region);
      heap_.free(region, sizeof(Region), alignof(Region));
    }
  }
  void add(Region& region) { all_.push_back(region); }

 private:
  Allocator& heap_;
  IntrusiveList<Region, RegionsOfObject> all_;
};

}  // namespace ingot::os
