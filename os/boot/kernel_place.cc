#include "os/boot/kernel_place.h"

namespace ingot::os {

namespace {

constexpr std::uint64_t place_limit = std::uint64_t{4} << 30;

// The distances that a range of memory allows: `count` of them, 2 MiB apart.
struct Distances {
  std::uint64_t first = large_page_bytes;
  std::uint64_t count = 0;
};

Distances distances_into(const MemoryRange& range, PhysicalRange image) {
  Distances found;
  if (range.kind != MemoryKind::usable) return found;
  const std::uint64_t begin = range.begin.value();
  const std::uint64_t end = range.end().value() < place_limit ? range.end().value() : place_limit;
  if (begin > image.begin.value() + found.first) found.first = round_up(begin - image.begin.value(), large_page_bytes);
  const std::uint64_t end_of_first = image.end().value() + found.first;
  if (end_of_first <= end) found.count = 1 + (end - end_of_first) / large_page_bytes;
  return found;
}

}  // namespace

std::optional<std::uint64_t> choose_kernel_distance(const MemoryMap& memory, PhysicalRange image,
                                                    std::uint64_t random) {
  std::uint64_t places = 0;
  for (const MemoryRange& range : memory.ranges()) places += distances_into(range, image).count;
  if (places == 0) return {};
  std::uint64_t chosen = random % places;
  for (const MemoryRange& range : memory.ranges()) {
    const Distances distances = distances_into(range, image);
    if (chosen < distances.count) return distances.first + chosen * large_page_bytes;
    chosen -= distances.count;
  }
  return {};
}

std::uint64_t choose_window_slot(const MemoryMap& memory, std::uint64_t random) {
  const std::uint64_t end = memory.end_of_memory().value(), last_used = end == 0 ? 0 : (end - 1) / window_slot_bytes;
  return last_used < window_slot_count ? random % (window_slot_count - last_used) : 0;
}

}  // namespace ingot::os
