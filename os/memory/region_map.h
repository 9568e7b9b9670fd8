// RegionMap: the regions of an address space, sorted and apart.
//
// A balanced tree (AVL: the levels of two siblings differ by one at most), in which each region knows the largest gap
// among those below it: looking up, adding, taking and finding room go down the tree once. It is no lock, and it knows
// no page table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/result.h"
#include "os/memory/region.h"

namespace ingot::os {

class RegionMap {
 public:
  explicit RegionMap(Allocator& heap) : heap_(&heap) {}
  RegionMap(const RegionMap&) = delete;
  RegionMap& operator=(const RegionMap&) = delete;
  ~RegionMap();

  // As many as Linux allows (vm.max_map_count): a program that maps without end is refused while there is memory left
  // for the pages of what it has.
  static constexpr std::size_t most_regions = 65'530;

  std::size_t size() const { return count_; }

  // The first region that ends behind the address: the one that holds it, or the next. nullptr when there is none.
  Region* first_behind(VirtualAddress address) const;
  Region* first() const { return first_behind(VirtualAddress(0)); }
  Region* after(const Region& region) const { return first_behind(region.end()); }
  Region* find(VirtualAddress address) const;
  bool is_free(VirtualAddress begin, std::uint64_t bytes) const;
  // Room within [low, high), `phase` behind a multiple of `alignment`: in the lowest gap that has as many bytes, or
  // else in the lowest that has them wherever it begins.
  std::optional<VirtualAddress> find_gap(std::uint64_t bytes, std::uint64_t alignment, std::uint64_t phase,
                                         VirtualAddress low, VirtualAddress high) const;

  // Fails where memory runs out, there are too many, an offset wraps, or the object refuses (MemoryObject::show).
  // Precondition: is_free.
  Result<void> insert(const RegionFields& fields);
  // Makes an address a border: a region that holds it inside becomes two.
  Result<void> split_at(VirtualAddress address);
  // The opposite, where the two differ in nothing but their place.
  void join_at(VirtualAddress address);
  // Out of the map and its object's list.
  void take(Region& region);
  void destroy(Region& region);

 private:
  static void refresh(Region& region);
  static void refresh_down_to(Region& region, const Region& changed);
  static void rotate(Region*& place, unsigned up);
  static void balance(Region*& place);
  static void insert_below(Region*& place, Region& added);
  static void remove_below(Region*& place, Region& removed);
  static bool has_gap_below(const Region* place, std::uint64_t bytes, VirtualAddress& candidate);

  Allocator* heap_;
  Region* root_ = nullptr;
  std::size_t count_ = 0;
};

}  // namespace ingot::os
