#include "machine/accelerator/shared_heap.h"

#include <algorithm>

namespace ingot {
namespace {

constexpr std::size_t alignment = 256;
constexpr std::size_t least_slab = std::size_t{16} << 20;

std::size_t rounded(std::size_t bytes) { return align_up(bytes, alignment); }

}  // namespace

// First fit: a queue's memory is a few lasting pieces, and small ones that come and go.
std::byte* SharedHeap::take(Slab& slab, std::size_t bytes) {
  for (auto gap = slab.gaps.begin(); gap != slab.gaps.end(); ++gap) {
    if (gap->second < bytes) continue;
    const auto [begin, size] = *gap;
    slab.gaps.erase(gap);
    if (size > bytes) slab.gaps.emplace(begin + bytes, size - bytes);
    return slab.memory.data() + begin;
  }
  return nullptr;
}

Result<std::byte*> SharedHeap::allocate(std::size_t bytes) {
  if (bytes == 0) return nullptr;
  const std::size_t wanted = rounded(bytes);
  for (Slab& slab : slabs_) {
    if (std::byte* found = take(slab, wanted)) return found;
  }
  Slab slab;
  slab.memory = TRY(client_.make_memory(Bytes(std::max(wanted, least_slab)), "ingot accelerator memory"));
  TRY(client_.map(slab.memory));
  slab.gaps.emplace(0, slab.memory.size());
  slabs_.push_back(std::move(slab));
  return take(slabs_.back(), wanted);
}

void SharedHeap::release(std::byte* data, std::size_t bytes) {
  if (data == nullptr) return;
  for (auto slab = slabs_.begin(); slab != slabs_.end(); ++slab) {
    if (!slab->memory.contains(data)) continue;
    const auto begin = static_cast<std::size_t>(data - slab->memory.data());
    auto gap = slab->gaps.emplace(begin, rounded(bytes)).first;
    if (const auto next = std::next(gap); next != slab->gaps.end() && gap->first + gap->second == next->first) {
      gap->second += next->second;
      slab->gaps.erase(next);
    }
    if (gap != slab->gaps.begin()) {
      if (const auto former = std::prev(gap); former->first + former->second == gap->first) {
        former->second += gap->second;
        slab->gaps.erase(gap);
        gap = former;
      }
    }
    // Large pieces go back to the system; a usual slab stays for the next.
    const bool is_free = gap->second == slab->memory.size();
    if (is_free && slab->memory.size() > least_slab && client_.unmap(slab->memory.data()).ok()) slabs_.erase(slab);
    return;
  }
}

bool SharedHeap::contains(const std::byte* data, std::size_t bytes) const {
  return std::any_of(slabs_.begin(), slabs_.end(), [&](const Slab& slab) {
    return slab.memory.contains(data) &&
           bytes <= slab.memory.size() - static_cast<std::size_t>(data - slab.memory.data());
  });
}

}  // namespace ingot
