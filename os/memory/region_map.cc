#include "os/memory/region_map.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace ingot::os {

RegionMap::~RegionMap() {
  while (root_ != nullptr) destroy(*root_);
}

Region* RegionMap::first_behind(VirtualAddress address) const {
  Region* found = nullptr;
  for (Region* at = root_; at != nullptr;) {
    const bool lies_before = at->last() < address;
    if (!lies_before) found = at;
    at = at->children_[lies_before ? 1 : 0];
  }
  return found;
}

Region* RegionMap::find(VirtualAddress address) const {
  Region* region = first_behind(address);
  return region != nullptr && region->begin <= address ? region : nullptr;
}

bool RegionMap::is_free(VirtualAddress begin, std::uint64_t bytes) const {
  const Region* region = first_behind(begin);
  return region == nullptr || region->begin > begin + (bytes - 1);
}

// Whether so much is free before the last region at or below `place`, from the candidate on. The candidate becomes
// where, or the end of all these regions.
bool RegionMap::has_gap_below(const Region* place, std::uint64_t bytes, VirtualAddress& candidate) {
  if (place == nullptr || place->below_.end <= candidate) return false;
  if (place->below_.begin >= candidate) {
    if (place->below_.begin - candidate >= bytes) return true;
    if (place->below_.largest_gap < bytes) {
      candidate = place->below_.end;
      return false;
    }
  }
  if (has_gap_below(place->children_[0], bytes, candidate)) return true;
  if (place->begin >= candidate && place->begin - candidate >= bytes) return true;
  candidate = std::max(candidate, place->end());
  return has_gap_below(place->children_[1], bytes, candidate);
}

std::optional<VirtualAddress> RegionMap::find_gap(std::uint64_t bytes, std::uint64_t alignment, std::uint64_t phase,
                                                  VirtualAddress low, VirtualAddress high) const {
  if (bytes > high - low) return std::nullopt;
  for (const std::uint64_t room : {bytes, bytes + (alignment - page_bytes)}) {
    VirtualAddress gap = low;
    has_gap_below(root_, room, gap);
    const VirtualAddress place = (gap - phase).rounded_up(alignment) + phase;
    const Region* next = first_behind(gap);
    const VirtualAddress end = next != nullptr && next->begin < high ? next->begin : high;
    if (place >= gap && place < end && end - place >= bytes) return place;
  }
  return std::nullopt;
}

Result<void> RegionMap::insert(const RegionFields& fields) {
  if (fields.object_offset > ~std::uint64_t{0} - fields.bytes) {
    return Error::of(ErrorCode::overflow, "expected an end of an object that is a number, found ", fields.bytes,
                     " bytes at ", fields.object_offset);
  }
  if (count_ == most_regions) {
    return Error::of(ErrorCode::out_of_memory, "expected at most ", most_regions, " regions, found one more");
  }
  void* block = TRY(heap_->allocate(sizeof(Region), alignof(Region)));
  Region* region = std::construct_at(static_cast<Region*>(block), fields);
  region->access = Access::none;  // until the object agrees
  const Result<void> shown = region->object->show(*region, fields.access);
  if (!shown.ok()) {
    std::destroy_at(region);
    heap_->free(block, sizeof(Region), alignof(Region));
    return shown;
  }
  insert_below(root_, *region);
  ++count_;
  return {};
}

Result<void> RegionMap::split_at(VirtualAddress address) {
  Region* lower = find(address);
  if (lower == nullptr || lower->begin == address) return {};
  const std::uint64_t lower_bytes = address - lower->begin;
  RegionFields upper = *lower;
  upper.begin = address;
  upper.bytes -= lower_bytes;
  upper.object_offset += lower_bytes;
  upper.guard_bytes = lower->guard_bytes > lower_bytes ? lower->guard_bytes - lower_bytes : 0;
  TRY(insert(upper));
  lower->bytes = lower_bytes;
  lower->guard_bytes -= upper.guard_bytes;
  refresh_down_to(*root_, *lower);
  return {};
}

// The lower one grows before the upper goes: an object that looks at its regions misses no part.
void RegionMap::join_at(VirtualAddress address) {
  Region* lower = find(address - 1);
  Region* upper = lower != nullptr && lower->end() == address ? find(address) : nullptr;
  if (upper == nullptr || !lower->is_continued_by(*upper)) return;
  lower->bytes += upper->bytes;
  destroy(*upper);
  refresh_down_to(*root_, *lower);
}

void RegionMap::take(Region& region) {
  remove_below(root_, region);
  --count_;
  region.object->hide(region);
}

void RegionMap::destroy(Region& region) {
  take(region);
  std::destroy_at(&region);
  heap_->free(&region, sizeof(Region), alignof(Region));
}

void RegionMap::refresh(Region& region) {
  const Region* const lower = region.children_[0];
  const Region* const higher = region.children_[1];
  Region::Below below{region.begin, region.end()};
  if (lower != nullptr) {
    below.begin = lower->below_.begin;
    below.largest_gap = std::max(lower->below_.largest_gap, region.begin - lower->below_.end);
    below.levels = lower->below_.levels + 1;
  }
  if (higher != nullptr) {
    below.end = higher->below_.end;
    below.largest_gap = std::max({below.largest_gap, higher->below_.largest_gap, higher->below_.begin - region.end()});
    below.levels = std::max(below.levels, higher->below_.levels + 1);
  }
  region.below_ = below;
}

// After a region's end has changed. No deeper than the tree, as all that call themselves here: 1.44 levels for each
// doubling.
void RegionMap::refresh_down_to(Region& region, const Region& changed) {
  if (&region != &changed) refresh_down_to(*region.children_[changed.begin > region.begin ? 1 : 0], changed);
  refresh(region);
}

// The child on side `up` takes the place, and what was there becomes its child on the other side.
void RegionMap::rotate(Region*& place, unsigned up) {
  Region& top = *place;
  place = top.children_[up];
  top.children_[up] = std::exchange(place->children_[1 - up], &top);
  refresh(top);
  refresh(*place);
}

void RegionMap::balance(Region*& place) {
  const auto levels = [](const Region* region) { return region != nullptr ? region->below_.levels : 0; };
  refresh(*place);
  for (const unsigned side : {0u, 1u}) {
    Region*& tall = place->children_[side];
    if (levels(tall) <= levels(place->children_[1 - side]) + 1) continue;
    if (levels(tall->children_[1 - side]) > levels(tall->children_[side])) rotate(tall, 1 - side);
    return rotate(place, side);
  }
}

void RegionMap::insert_below(Region*& place, Region& added) {
  if (place == nullptr) {
    place = &added;
  } else {
    insert_below(place->children_[added.begin > place->begin ? 1 : 0], added);
  }
  balance(place);
}

void RegionMap::remove_below(Region*& place, Region& removed) {
  if (place != &removed) {
    remove_below(place->children_[removed.begin > place->begin ? 1 : 0], removed);
  } else if (removed.children_[1] == nullptr) {
    place = removed.children_[0];
  } else {
    Region* next = removed.children_[1];
    while (next->children_[0] != nullptr) next = next->children_[0];
    remove_below(removed.children_[1], *next);
    next->children_[0] = removed.children_[0];
    next->children_[1] = removed.children_[1];
    place = next;
  }
  if (place != nullptr) balance(place);
}

}  // namespace ingot::os
