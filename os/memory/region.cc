#include "os/memory/region.h"

#include <memory>

namespace ingot::os {

RemovedRegions::~RemovedRegions() {
  while (Region* region = all_.pop_front()) {
    std::destroy_at(region);
    heap_.free(region, sizeof(Region), alignof(Region));
  }
}

RegionMap::~RegionMap() {
  RemovedRegions removed(*heap_);
  while (count_ != 0) removed.add(take(count_ - 1));
  if (regions_ != nullptr) heap_->free(static_cast<void*>(regions_), capacity_ * sizeof(Region*));
}

std::size_t RegionMap::first_behind(VirtualAddress address) const {
  std::size_t low = 0;
  std::size_t high = count_;
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (regions_[middle]->last() < address) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

Region* RegionMap::find(VirtualAddress address) const {
  const std::size_t index = first_behind(address);
  return index < count_ && regions_[index]->begin <= address ? regions_[index] : nullptr;
}

bool RegionMap::is_free(VirtualAddress begin, std::uint64_t bytes) const {
  const std::size_t index = first_behind(begin);
  return index == count_ || regions_[index]->begin > begin + (bytes - 1);
}

std::optional<VirtualAddress> RegionMap::find_gap(std::uint64_t bytes, std::uint64_t alignment, std::uint64_t phase,
                                                  VirtualAddress low, VirtualAddress high) const {
  const auto place_from = [&](VirtualAddress from) { return (from - phase).rounded_up(alignment) + phase; };
  VirtualAddress candidate = place_from(low);
  for (std::size_t index = first_behind(low);; ++index) {
    const VirtualAddress gap_end = index < count_ && regions_[index]->begin < high ? regions_[index]->begin : high;
    if (candidate >= low && candidate <= gap_end && gap_end - candidate >= bytes) return candidate;
    if (gap_end == high) return std::nullopt;
    candidate = place_from(regions_[index]->last() + 1);
  }
}

Result<void> RegionMap::insert(const RegionFields& fields) {
  TRY(reserve(count_ + 1));
  void* block = TRY(heap_->allocate(sizeof(Region), alignof(Region)));
  Region* region = std::construct_at(static_cast<Region*>(block), fields);
  region->object->regions().with([&](auto& all) { all.push_back(*region); });
  std::size_t index = count_++;
  for (; index > 0 && regions_[index - 1]->begin > region->begin; --index) regions_[index] = regions_[index - 1];
  regions_[index] = region;
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
  return {};
}

Region& RegionMap::take(std::size_t index) {
  Region& region = *regions_[index];
  for (--count_; index < count_; ++index) regions_[index] = regions_[index + 1];
  region.object->regions().with([&](auto& all) { all.remove(region); });
  return region;
}

Result<void> RegionMap::reserve(std::size_t count) {
  if (count <= capacity_) return {};
  const std::size_t capacity = capacity_ == 0 ? 8 : capacity_ * 2;
  auto* const grown = static_cast<Region**>(TRY(heap_->allocate(capacity * sizeof(Region*))));
  for (std::size_t index = 0; index < count_; ++index) grown[index] = regions_[index];
  if (regions_ != nullptr) heap_->free(static_cast<void*>(regions_), capacity_ * sizeof(Region*));
  regions_ = grown;
  capacity_ = capacity;
  return {};
}

}  // namespace ingot::os
