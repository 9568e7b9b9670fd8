// Who holds what, on one page: for the moment when memory has run out.
#include "base/text.h"
#include "os/memory/kernel_memory.h"

namespace ingot::os {

namespace {

void report_heap(const SlabAllocator& heap, Log& log) {
  const HeapStatistics now = heap.statistics();
  log.warning("heap: ", now.live_blocks, " blocks of ", now.live_bytes, " bytes in ", heap.page_count(),
              " pages, at most ", now.peak_bytes, " bytes so far, ", now.failures, " failures");
  Log::Line line;
  std::uint64_t small_blocks = 0;
  for (unsigned index = 0; index < SlabAllocator::class_bytes.size(); ++index) {
    const std::uint64_t live = heap.live_blocks(index);
    small_blocks += live;
    if (live != 0) line.append_all(" ", live, " of ", SlabAllocator::class_bytes[index]);
  }
  log.warning("heap: blocks of bytes:", line.view());
  log.warning("heap: ", now.live_blocks - small_blocks, " blocks of whole pages");
}

void report_space(std::size_t number, const AddressSpace& space, Log& log) {
  const AddressSpaceStatistics& now = space.statistics();
  log.warning("address space ", number, ": ", space.frames_held(), " frames, ", space.table().table_count(),
              " tables; large pages: ", now.large_pages, " had, ", now.large_page_misses, " missed; ", now.copies,
              " copies");
}

}  // namespace

void KernelMemory::report(Log& log) {
  const FrameStatistics now = frames_.shared().with([](FrameAllocator& frames) { return frames.statistics(); });
  log.warning("frames: ", now.free, " of ", now.total, " free, ", now.free_below_4_gib, " below 4 GiB, ",
              now.free_below_16_mib, " below 16 MiB; ", now.failures, " failures");
  const auto [tables, stack_pages] =
      areas_.with([](Areas& areas) { return std::pair(areas.table.table_count(), areas.stack_pages); });
  std::uint64_t spaces_frames = 0;
  std::size_t count = 0;
  constexpr std::size_t most_spaces = 12;  // so that all fits on a page
  spaces_.with([&](auto& all) {
    for (const AddressSpace& space : all) {
      if (count++ < most_spaces) report_space(count, space, log);
      spaces_frames += space.frames_held() + space.table().table_count();
    }
  });
  if (count > most_spaces) log.warning("address spaces: ", count - most_spaces, " more");
  const std::uint64_t heap_pages = heap_.with([&](const SlabAllocator& heap) {
    report_heap(heap, log);
    return heap.page_count();
  });
  const std::uint64_t known = spaces_frames + heap_pages + tables + stack_pages + frames_.cached();
  log.warning("frames held: ", spaces_frames, " by address spaces, ", heap_pages, " by the heap, ", stack_pages,
              " by stacks, ", tables, " by the kernel's tables, ", frames_.cached(), " in caches, ",
              now.total - now.free - known, " by others");
}

}  // namespace ingot::os
