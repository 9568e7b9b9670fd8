#include "model/plan/arena.h"

#include <algorithm>
#include <numeric>

namespace ingot {
namespace {

std::int64_t rounded_bytes(const BufferLife& buffer) {
  return (buffer.bytes + arena_alignment - 1) / arena_alignment * arena_alignment;
}

bool live_together(const BufferLife& left, const BufferLife& right) {
  return left.first <= right.last && right.first <= left.last;
}

std::int64_t most_alive(std::span<const BufferLife> buffers) {
  int end = 0;
  for (const BufferLife& buffer : buffers) end = std::max(end, buffer.last + 1);
  std::vector<std::int64_t> changes(static_cast<std::size_t>(end) + 1, 0);
  for (const BufferLife& buffer : buffers) {
    if (buffer.last < buffer.first) continue;
    changes[static_cast<std::size_t>(buffer.first)] += rounded_bytes(buffer);
    changes[static_cast<std::size_t>(buffer.last) + 1] -= rounded_bytes(buffer);
  }
  std::int64_t alive = 0;
  std::int64_t most = 0;
  for (const std::int64_t change : changes) most = std::max(most, alive += change);
  return most;
}

ArenaLayout placed_in_order(std::span<const BufferLife> buffers, std::span<const std::size_t> order) {
  ArenaLayout layout;
  layout.offsets.assign(buffers.size(), 0);
  std::vector<std::size_t> placed;  // by rising offset
  for (const std::size_t index : order) {
    const BufferLife& buffer = buffers[index];
    const std::int64_t bytes = rounded_bytes(buffer);
    std::int64_t offset = std::max<std::int64_t>(buffer.place, 0);
    for (const std::size_t other : placed) {
      if (buffer.place >= 0) break;
      const std::int64_t end = layout.offsets[other] + rounded_bytes(buffers[other]);
      if (!live_together(buffer, buffers[other]) || end <= offset) continue;
      if (layout.offsets[other] >= offset + bytes) break;  // the gap before it is large enough
      offset = end;
    }
    layout.offsets[index] = offset;
    layout.bytes = std::max(layout.bytes, offset + bytes);
    const auto place = std::upper_bound(placed.begin(), placed.end(), index, [&](std::size_t left, std::size_t right) {
      return layout.offsets[left] < layout.offsets[right];
    });
    placed.insert(place, index);
  }
  return layout;
}

// What is placed first, by falling weight: large buffers leave gaps that small ones fill, long-lived ones belong at the
// bottom, and in the order of time none is split around another.
double by_size(const BufferLife& buffer) { return static_cast<double>(buffer.bytes); }
double by_area(const BufferLife& buffer) {
  return static_cast<double>(buffer.bytes) * (buffer.last - buffer.first + 1);
}
double by_length(const BufferLife& buffer) { return buffer.last - buffer.first; }
double by_beginning(const BufferLife& buffer) { return -buffer.first; }
double by_end(const BufferLife& buffer) { return buffer.last; }

constexpr int rounds = 16;
// Buffers are placed anew while that might save more than this part of the arena and more than these bytes: plans of
// small passes are made while somebody waits.
constexpr std::int64_t worthwhile_part = 100;
constexpr std::int64_t worthwhile_bytes = 1 << 20;
constexpr double (*weights[])(const BufferLife&) = {by_size, by_area, by_length, by_beginning, by_end};

}  // namespace

ArenaLayout lay_out(std::span<const BufferLife> buffers) {
  const std::int64_t live_bytes = most_alive(buffers);
  const std::int64_t good_bytes = live_bytes + std::max(live_bytes / worthwhile_part, worthwhile_bytes);
  const auto is_fixed = [&](std::size_t index) { return buffers[index].place >= 0; };
  ArenaLayout best;
  for (const auto weight : weights) {
    std::vector<std::size_t> order(buffers.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, [&](std::size_t left, std::size_t right) {
      if (is_fixed(left) != is_fixed(right)) return is_fixed(left);
      const double difference = weight(buffers[left]) - weight(buffers[right]);
      return difference != 0 ? difference > 0 : buffers[left].bytes > buffers[right].bytes;
    });
    for (int round = 0; round < rounds && (best.offsets.empty() || best.bytes > good_bytes); ++round) {
      ArenaLayout layout = placed_in_order(buffers, order);
      // Whoever had to lie at the very top chooses earlier next time.
      std::ranges::stable_partition(order, [&](std::size_t index) {
        return is_fixed(index) || layout.offsets[index] + rounded_bytes(buffers[index]) == layout.bytes;
      });
      if (best.offsets.empty() || layout.bytes < best.bytes) best = std::move(layout);
    }
  }
  best.live_bytes = live_bytes;
  return best;
}

}  // namespace ingot
