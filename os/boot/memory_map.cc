#include "os/boot/memory_map.h"

namespace ingot::os {

namespace {

constexpr std::uint64_t lesser(std::uint64_t left, std::uint64_t right) { return left < right ? left : right; }
constexpr std::uint64_t greater(std::uint64_t left, std::uint64_t right) { return left < right ? right : left; }

// Pieces in ascending order; a piece that continues the last one joins it.
struct Pieces {
  void append(std::uint64_t begin, std::uint64_t end, MemoryKind kind) {
    if (begin >= end) return;
    if (count > 0 && ranges[count - 1].kind == kind && ranges[count - 1].end().value() == begin) {
      ranges[count - 1].bytes += end - begin;
      return;
    }
    if (count < ranges.size()) ranges[count] = {PhysicalAddress(begin), end - begin, kind};
    ++count;  // counts what did not fit as well
  }

  std::array<MemoryRange, MemoryMap::capacity> ranges;
  std::size_t count = 0;
};

}  // namespace

Result<void> MemoryMap::add(MemoryRange range) {
  if (range.bytes == 0) return {};
  const std::uint64_t begin = range.begin.value();
  std::uint64_t end = 0;
  if (__builtin_add_overflow(begin, range.bytes, &end)) {
    return Error::of(ErrorCode::overflow, "expected memory that ends below 2^64, found ", range.bytes, " bytes from ",
                     range.begin);
  }

  Pieces pieces;
  std::uint64_t added = begin;  // the new range is done up to here
  for (const MemoryRange& old : ranges()) {
    const std::uint64_t old_begin = old.begin.value(), old_end = old.end().value();
    const std::uint64_t shared_begin = greater(old_begin, begin), shared_end = lesser(old_end, end);
    if (shared_begin >= shared_end) {
      // Apart: the new range's remainder comes first if it lies below.
      if (old_begin >= end) {
        pieces.append(added, end, range.kind);
        added = greater(added, end);
      }
      pieces.append(old_begin, old_end, old.kind);
      continue;
    }
    pieces.append(added, shared_begin, range.kind);
    pieces.append(old_begin, shared_begin, old.kind);
    pieces.append(shared_begin, shared_end, old.kind > range.kind ? old.kind : range.kind);
    added = shared_end;
    pieces.append(shared_end, old_end, old.kind);
  }
  pieces.append(added, end, range.kind);

  if (pieces.count > capacity) {
    return Error::of(ErrorCode::out_of_memory, "expected a memory map of at most ", capacity, " ranges, found ",
                     pieces.count);
  }
  for (std::size_t index = 0; index < pieces.count; ++index) ranges_[index] = pieces.ranges[index];
  count_ = pieces.count;
  return {};
}

std::uint64_t MemoryMap::bytes_of(MemoryKind kind, PhysicalAddress from) const {
  std::uint64_t bytes = 0;
  for (const MemoryRange& range : ranges()) {
    if (range.kind == kind && range.end() > from) bytes += range.end() - (range.begin > from ? range.begin : from);
  }
  return bytes;
}

PhysicalAddress MemoryMap::end_of_memory() const {
  PhysicalAddress end;
  for (const MemoryRange& range : ranges()) {
    if (range.kind != MemoryKind::reserved && range.kind != MemoryKind::bad) end = range.end();
  }
  return end;
}

}  // namespace ingot::os
