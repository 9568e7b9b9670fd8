// FrameAllocator: all usable memory in frames, given out in aligned runs of 2^order.
//
// Memory is seen as sections of 1 GiB, each of 512 blocks of 2 MiB, each of 512 frames. A section keeps a bit for every
// block that is wholly free, a block a bit for every free frame; so a large page is found by one look into a section's
// 512 bits, a frame by that and one into a block's. Runs between those sizes are aligned runs of bits in either.
//
// A block's words and infos are written when a frame of it is first needed: starting with much memory costs little more
// than starting with little. It is no lock: whoever shares an allocator puts it inside one.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "base/result.h"
#include "os/boot/memory_map.h"
#include "os/memory/bits512.h"
#include "os/memory/frame_info.h"
#include "os/memory/frame_source.h"
#include "os/memory/physical_window.h"

namespace ingot::os {

struct FrameStatistics {
  std::uint64_t total = 0;               // frames that were ever given to the allocator
  std::uint64_t free = 0;                // frames
  std::uint64_t free_below_4_gib = 0;    // frames, the next included
  std::uint64_t free_below_16_mib = 0;   // frames
  std::uint64_t allocations = 0;         // successful ones, of any order
  std::uint64_t failures = 0;            // requests that found no run
  std::uint64_t adopted = 0;             // frames that were the image's at the start
  std::uint64_t metadata_bytes = 0;      // taken from the map at the start
  std::uint64_t unreachable_frames = 0;  // usable, and beyond what the window shows
};

class FrameAllocator final : public FrameSource {
 public:
  // Takes over the usable memory of the map. Its own tables come out of the map, too (listed as `kernel` afterwards),
  // below `mapped_end`: at that moment not all of the window may be mapped.
  static Result<FrameAllocator> create(MemoryMap& map, PhysicalWindow window, PhysicalAddress mapped_end);

  FrameAllocator(FrameAllocator&&) = default;  // and no copies: two would hand out the same frames

  using FrameSource::allocate;
  Result<FrameNumber> allocate(unsigned order, Zone zone) override;
  void release(FrameNumber frame, unsigned order) override;
  void unpin(FrameNumber frame) override;
  void adopt(FrameNumber begin, FrameNumber end) override;
  const FrameTable& table() const override { return table_; }

  // For caches: frames that are allocated and have no reference yet. Returns how many there were.
  std::size_t allocate_batch(std::span<FrameNumber> frames);
  // Takes back frames without references, of any order: what a cache drains, what the last reference left.
  void free_batch(std::span<const FrameNumber> heads);

  // Allocated frames that nobody ever gives back, for a device may still write to them: they count as memory no more.
  void retire(std::uint64_t frames) { statistics_.total -= frames; }

  FrameStatistics statistics() const;

 private:
  static constexpr unsigned zone_count = 3;

  // Valid while the section's `touched` has its bit. A search that fails lowers `largest_order`, a freed frame resets
  // it.
  struct Block {
    Bits512 free;
    std::uint16_t free_count;
    std::uint16_t largest_order;  // no run of a higher order is free
  };
  struct Section {
    Bits512 whole;    // wholly free blocks, none of which is in `partial`
    Bits512 partial;  // blocks with some free frames
    Bits512 touched;  // blocks whose Block and infos are initialised
    Block* blocks = nullptr;
    unsigned block_count = 0;
  };
  struct BlockRange {
    std::uint64_t begin, end;
  };

  FrameAllocator() = default;

  Result<void> carve_metadata(MemoryMap& map, PhysicalWindow window, PhysicalAddress mapped_end);
  void add_run(FrameNumber begin, FrameNumber end);
  std::optional<FrameNumber> take(unsigned order, Zone zone);
  std::optional<std::uint64_t> take_in(Section& section, unsigned order, unsigned begin, unsigned end);
  unsigned take_from_block(Section& section, unsigned block, unsigned first, unsigned order);
  void free_run(FrameNumber head);
  void touch(Section& section, unsigned block);
  Section& section_of(FrameNumber frame) { return sections_[frame.value() / frames_per_giant_page]; }
  static unsigned zone_of(FrameNumber frame);
  static BlockRange blocks_of_zone(unsigned zone);

  Section* sections_ = nullptr;
  FrameInfo** infos_ = nullptr;
  std::uint64_t section_count_ = 0;
  FrameTable table_;
  FrameStatistics statistics_;
  std::array<std::uint64_t, zone_count> free_{};  // frames in: the high, the middle and the low zone
};

}  // namespace ingot::os
