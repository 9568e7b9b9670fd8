#include "os/memory/frame_allocator.h"

#include <cstddef>
#include <memory>

#include "os/memory/early_memory.h"

namespace ingot::os {
namespace {

constexpr std::uint64_t block_frames = frames_per_large_page;
constexpr std::uint64_t section_frames = frames_per_giant_page;
constexpr std::uint64_t section_blocks = section_frames / block_frames;

constexpr std::uint64_t minimum(std::uint64_t left, std::uint64_t right) { return left < right ? left : right; }
constexpr std::uint64_t maximum(std::uint64_t left, std::uint64_t right) { return left > right ? left : right; }

unsigned block_of(FrameNumber frame) { return static_cast<unsigned>(frame.value() / block_frames % section_blocks); }

// Now, or once the image is used up.
bool may_hold_frames(MemoryKind kind) { return kind == MemoryKind::usable || kind == MemoryKind::image; }

struct FrameRun {
  FrameNumber begin, end;
};
// The frames that lie wholly inside a range and in front of `limit`.
FrameRun whole_frames(PhysicalAddress begin, PhysicalAddress end, FrameNumber limit) {
  const std::uint64_t last = minimum(end.value() >> page_bits, limit.value());
  const std::uint64_t first = (begin.value() >> page_bits) + (begin.page_offset() != 0 ? 1 : 0);
  return {FrameNumber(minimum(first, last)), FrameNumber(last)};
}

}  // namespace

Result<FrameAllocator> FrameAllocator::create(MemoryMap& map, PhysicalWindow window, PhysicalAddress mapped_end) {
  FrameAllocator allocator;
  TRY(allocator.carve_metadata(map, window, mapped_end));
  const FrameNumber limit = FrameNumber::containing(window.end());
  for (const MemoryRange& range : map.ranges()) {
    if (range.kind != MemoryKind::usable) continue;
    const FrameRun all = whole_frames(range.begin, range.end(), FrameNumber(~std::uint64_t{0}));
    FrameRun reachable = whole_frames(range.begin, range.end(), limit);
    const FrameNumber lowest = FrameNumber(maximum(1, window.begin().rounded_up(page_bytes).value() >> page_bits));
    if (reachable.begin < lowest) reachable.begin = lowest;  // never frame 0: its address reads as "none"
    if (reachable.end < reachable.begin) reachable.end = reachable.begin;
    allocator.statistics_.unreachable_frames += (all.end - all.begin) - (reachable.end - reachable.begin);
    allocator.add_run(reachable.begin, reachable.end);
  }
  if (allocator.statistics_.total == 0) {
    return Error::of(ErrorCode::out_of_memory, "expected usable frames in the memory map, found none");
  }
  return allocator;
}

// First the directory of sections, then for each section its blocks and infos, sized by the last frame it holds.
Result<void> FrameAllocator::carve_metadata(MemoryMap& map, PhysicalWindow window, PhysicalAddress mapped_end) {
  const FrameNumber limit = FrameNumber::containing(window.end());
  std::uint64_t frames = 0;
  for (const MemoryRange& range : map.ranges()) {
    if (may_hold_frames(range.kind))
      frames = maximum(frames, whole_frames(range.begin, range.end(), limit).end.value());
  }
  section_count_ = (frames + section_frames - 1) / section_frames;
  const auto carve = [&](std::uint64_t bytes) {
    statistics_.metadata_bytes += round_up(bytes, page_bytes);
    return take_early_memory(map, bytes, mapped_end);
  };
  const PhysicalAddress directory = TRY(carve(section_count_ * (sizeof(Section) + sizeof(FrameInfo*))));
  sections_ = window.at<Section>(directory);
  infos_ = window.at<FrameInfo*>(directory + section_count_ * sizeof(Section));
  table_ = FrameTable(infos_, section_count_);
  for (std::uint64_t index = 0; index < section_count_; ++index) {
    Section& section = *std::construct_at(&sections_[index]);
    const FrameNumber first(index * section_frames);
    const FrameNumber section_end(minimum(limit.value(), first.value() + section_frames));
    std::uint64_t end = 0;  // of the memory in this section, in frames from its start
    for (const MemoryRange& range : map.ranges()) {
      const FrameRun run = whole_frames(range.begin, range.end(), section_end);
      if (may_hold_frames(range.kind) && run.end > first && run.begin < run.end) end = maximum(end, run.end - first);
    }
    infos_[index] = nullptr;
    section.block_count = static_cast<unsigned>((end + block_frames - 1) / block_frames);
    if (section.block_count == 0) continue;
    // The infos of a block fill one frame, so a block is touched by clearing whole frames.
    const std::uint64_t info_bytes = section.block_count * block_frames * sizeof(FrameInfo);
    const PhysicalAddress metadata = TRY(carve(info_bytes + section.block_count * sizeof(Block)));
    infos_[index] = window.at<FrameInfo>(metadata);
    section.blocks = window.at<Block>(metadata + info_bytes);
  }
  return {};
}

void FrameAllocator::add_run(FrameNumber begin, FrameNumber end) {
  statistics_.total += end - begin;
  while (begin < end) {
    Section& section = section_of(begin);
    const unsigned block = block_of(begin);
    const std::uint64_t block_end = round_down(begin.value(), block_frames) + block_frames;
    const FrameNumber piece_end(minimum(end.value(), block_end));
    const std::uint64_t frames = piece_end - begin;
    free_[zone_of(begin)] += frames;
    if (frames == block_frames && !section.touched.test(block)) {
      section.whole.set(block);
    } else {
      touch(section, block);
      Block& state = section.blocks[block];
      const unsigned first = static_cast<unsigned>(begin.value() % block_frames);
      state.free.set_range(first, first + static_cast<unsigned>(frames));
      state.free_count = static_cast<std::uint16_t>(state.free_count + frames);
      state.largest_order = large_page_order;
      if (state.free_count == block_frames) {
        section.partial.clear(block);
        section.whole.set(block);
      } else {
        section.partial.set(block);
      }
    }
    begin = piece_end;
  }
}

void FrameAllocator::touch(Section& section, unsigned block) {
  if (section.touched.test(block)) return;
  section.touched.set(block);
  *std::construct_at(&section.blocks[block]) = Block{{}, 0, large_page_order};
  FrameInfo* infos = infos_[&section - sections_] + block * block_frames;
  for (std::uint64_t frame = 0; frame < block_frames; ++frame) std::construct_at(&infos[frame]);
}

Result<FrameNumber> FrameAllocator::allocate(unsigned order, Zone zone) {
  const std::optional<FrameNumber> frame = take(order, zone);
  if (!frame) {
    ++statistics_.failures;
    return Error::of(ErrorCode::out_of_memory, "expected a free run of 2^", order, " frames, found ", statistics().free,
                     " free frames, in no such run");
  }
  table_.info(*frame).mark_allocated(order, std::uint32_t{1} << order);
  return *frame;
}

std::size_t FrameAllocator::allocate_batch(std::span<FrameNumber> frames) {
  for (std::size_t count = 0; count < frames.size(); ++count) {
    const std::optional<FrameNumber> frame = take(page_order, Zone::any);
    if (!frame) return count;
    table_.info(*frame).mark_allocated(page_order, 0);
    frames[count] = *frame;
  }
  return frames.size();
}

// A run lies within one zone. The dearest zone, the lowest, is asked last.
std::optional<FrameNumber> FrameAllocator::take(unsigned order, Zone zone) {
  if (order > giant_page_order) return std::nullopt;
  for (unsigned asked = static_cast<unsigned>(zone); asked < zone_count; ++asked) {
    if (free_[asked] < (std::uint64_t{1} << order)) continue;
    const BlockRange range = blocks_of_zone(asked);
    for (std::uint64_t index = range.begin / section_blocks; index < section_count_; ++index) {
      const std::uint64_t base = index * section_blocks;
      if (base >= range.end) break;
      Section& section = sections_[index];
      const std::uint64_t end = minimum(section.block_count, range.end - base);
      const std::uint64_t begin = range.begin > base ? range.begin - base : 0;
      if (begin >= end) continue;
      const auto frame = take_in(section, order, static_cast<unsigned>(begin), static_cast<unsigned>(end));
      if (!frame) continue;
      free_[asked] -= std::uint64_t{1} << order;
      ++statistics_.allocations;
      return FrameNumber(index * section_frames + *frame);
    }
  }
  return std::nullopt;
}

// The run's first frame, counted from the section's start. Broken blocks are used up before another is broken.
std::optional<std::uint64_t> FrameAllocator::take_in(Section& section, unsigned order, unsigned begin, unsigned end) {
  if (order >= large_page_order) {
    const std::optional<unsigned> first = section.whole.find_run(order - large_page_order, begin, end);
    if (!first) return std::nullopt;
    const unsigned last = *first + (1u << (order - large_page_order));
    section.whole.clear_range(*first, last);
    for (unsigned block = *first; block < last; ++block) {
      touch(section, block);
      section.blocks[block] = Block{{}, 0, 0};
    }
    return *first * block_frames;
  }
  for (unsigned from = begin; from < end;) {
    const std::optional<unsigned> block = section.partial.find_run(0, from, end);
    if (!block) break;
    Block& state = section.blocks[*block];
    if (state.largest_order >= order) {
      const std::optional<unsigned> first = state.free.find_run(order);
      if (first) return *block * block_frames + take_from_block(section, *block, *first, order);
      state.largest_order = static_cast<std::uint16_t>(order - 1);
    }
    from = *block + 1;
  }
  const std::optional<unsigned> block = section.whole.find_run(0, begin, end);
  if (!block) return std::nullopt;
  touch(section, *block);
  section.whole.clear(*block);
  section.partial.set(*block);
  Block& state = section.blocks[*block];
  state.free.set_range(0, Bits512::size);
  state.free_count = Bits512::size;
  state.largest_order = large_page_order;
  return *block * block_frames + take_from_block(section, *block, 0, order);
}

unsigned FrameAllocator::take_from_block(Section& section, unsigned block, unsigned first, unsigned order) {
  Block& state = section.blocks[block];
  state.free.clear_range(first, first + (1u << order));
  state.free_count = static_cast<std::uint16_t>(state.free_count - (1u << order));
  if (state.free_count == 0) section.partial.clear(block);
  return first;
}

void FrameAllocator::release(FrameNumber frame, unsigned order) {
  const FrameNumber head = table_.head_of(frame);
  if (table_.info(head).drop_references(std::uint32_t{1} << order)) free_run(head);
}

void FrameAllocator::unpin(FrameNumber frame) {
  const FrameNumber head = table_.head_of(frame);
  if (table_.info(head).drop_pin()) free_run(head);
}

void FrameAllocator::adopt(FrameNumber begin, FrameNumber end) {
  statistics_.adopted += end - begin;
  add_run(begin, end);
}

void FrameAllocator::free_batch(std::span<const FrameNumber> heads) {
  for (const FrameNumber head : heads) free_run(head);
}

void FrameAllocator::free_run(FrameNumber head) {
  FrameInfo& info = table_.info(head);
  if (!info.allocated() || info.references() != 0 || info.pins() != 0) __builtin_trap();
  const std::uint64_t frames = std::uint64_t{1} << info.order();
  info.mark_free();
  statistics_.total -= frames;  // add_run counts them again
  add_run(head, head + frames);
}

FrameStatistics FrameAllocator::statistics() const {
  FrameStatistics current = statistics_;
  current.free_below_16_mib = free_[2];
  current.free_below_4_gib = free_[1] + free_[2];
  current.free = free_[0] + current.free_below_4_gib;
  return current;
}

unsigned FrameAllocator::zone_of(FrameNumber frame) {
  for (unsigned zone = 0; zone + 1 < zone_count; ++zone) {
    if (frame.value() / block_frames >= blocks_of_zone(zone).begin) return zone;
  }
  return zone_count - 1;
}

FrameAllocator::BlockRange FrameAllocator::blocks_of_zone(unsigned zone) {
  constexpr std::uint64_t four_gib = (std::uint64_t{4} << 30) / large_page_bytes;
  constexpr std::uint64_t sixteen_mib = (std::uint64_t{16} << 20) / large_page_bytes;
  switch (static_cast<Zone>(zone)) {
    case Zone::any: return {four_gib, ~std::uint64_t{0}};
    case Zone::below_4_gib: return {sixteen_mib, four_gib};
    case Zone::below_16_mib: break;
  }
  return {0, sixteen_mib};
}

}  // namespace ingot::os
