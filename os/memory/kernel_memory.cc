#include "os/memory/kernel_memory.h"

#include <memory>
#include <optional>
#include <utility>

#include "os/arch/arch.h"

namespace ingot::os {

void flush_this_cpu(const TlbFlush& flush) {
  if (flush.everything) return arch::invalidate_all_pages();
  for (std::size_t index = 0; index < flush.range_count; ++index) {
    const StaleRange& range = flush.ranges[index];
    for (std::uint64_t page = 0; page < range.pages; ++page) {
      arch::invalidate_page(range.begin + page * bytes_of(range.size));
    }
  }
}

KernelMemory::KernelMemory(FrameAllocator frames, PhysicalWindow window, PhysicalAddress root, PageSize largest,
                           Poison poison)
    : window_(window),
      frames_(std::move(frames)),
      heap_(frames_, window, poison),
      table_(NativePageTable::adopt(root, frames_, window, largest)),
      areas_(LockRank::page_table,
             Areas{NativePageTable::adopt(root, frames_, window, largest), {}, device_area_begin}) {}

Result<void> KernelMemory::prepare() {
  return areas_.with(
      [](Areas& areas) { return areas.table.prepare(kernel_areas_begin, device_area_end - kernel_areas_begin); });
}

Result<void> KernelMemory::add_cpu(std::uint32_t index) {
  if (index >= CachedFrames::most_cpus) {
    return Error::of(ErrorCode::out_of_range, "expected a CPU below ", CachedFrames::most_cpus, ", found ", index);
  }
  void* block = TRY(heap_.allocate(sizeof(FrameCache), alignof(FrameCache)));
  frames_.set_cache(index, *std::construct_at(static_cast<FrameCache*>(block), frames_.shared(), frames_.table()));
  return {};
}

Result<KernelStack> KernelMemory::allocate_stack(std::uint64_t bytes) {
  if (bytes == 0 || bytes > StackSlots::most_bytes || !is_aligned(bytes, page_bytes)) {
    return Error::of(ErrorCode::invalid_argument, "expected a stack of whole pages, at most ", StackSlots::most_bytes,
                     " bytes, found ", bytes);
  }
  const std::optional<VirtualAddress> top = areas_.with([](Areas& areas) { return areas.slots.take(); });
  if (!top) return Error::of(ErrorCode::out_of_memory, "expected room for one more stack, found none");
  KernelStack stack(*this, *top - bytes, *top);  // frees what was mapped if mapping fails
  TRY(areas_.with([&](Areas& areas) { return map_stack(areas, stack.bottom(), *top); }));
  return stack;
}

Result<void> KernelMemory::map_stack(Areas& areas, VirtualAddress bottom, VirtualAddress top) {
  constexpr PageAttributes attributes{Access::read | Access::write, Privilege::kernel, CacheMode::write_back,
                                      FrameOwnership::counted};
  for (VirtualAddress page = bottom; page < top; page += page_bytes) {
    const FrameNumber frame = TRY(frames_.allocate(page_order));
    const Result<void> mapped = areas.table.map(page, frame.address(), PageSize::small, attributes);
    if (!mapped.ok()) {
      frames_.release(frame, page_order);
      return mapped;
    }
    ++areas.stack_pages;
  }
  return {};
}

void KernelMemory::free_stack(const KernelStack& stack) {
  {
    TlbBatch batch(tlb_, frames_);  // ends after the lock: other CPUs may wait for that with interrupts off
    areas_.with([&](Areas& areas) {
      const auto release = [&](const MappedPage& page) {
        batch.release_later(FrameNumber::containing(page.physical), page_order);
        --areas.stack_pages;
      };
      static_cast<void>(areas.table.unmap(stack.bottom(), stack.top() - stack.bottom(), batch, release));
    });
  }
  // Only now may the addresses be used again.
  areas_.with([&](Areas& areas) { areas.slots.give_back(stack.top()); });
}

KernelStack::~KernelStack() {
  if (memory_ != nullptr) memory_->free_stack(*this);
}

Result<VirtualAddress> KernelMemory::map_device(PhysicalAddress physical, std::uint64_t bytes, CacheMode cache) {
  constexpr std::uint64_t end_of_addresses = std::uint64_t{1} << 52;
  if (bytes == 0 || physical.value() >= end_of_addresses || bytes > end_of_addresses - physical.value()) {
    return Error::of(ErrorCode::invalid_argument, "expected a device below 2^52, found ", bytes, " bytes at ",
                     physical);
  }
  const std::uint64_t offset = physical.page_offset();
  const std::uint64_t whole = round_up(offset + bytes, page_bytes);
  return areas_.with([&](Areas& areas) -> Result<VirtualAddress> {
    VirtualAddress begin = areas.next_device;
    if (whole >= large_page_bytes) {  // as far from a large page's start as the device is: then large pages fit
      begin = begin.rounded_up(large_page_bytes) + (physical - offset).value() % large_page_bytes;
    }
    if (whole > device_area_end - begin) {
      return Error::of(ErrorCode::out_of_memory, "expected ", whole, " free bytes of device addresses, found ",
                       device_area_end - begin);
    }
    areas.next_device = begin + whole + page_bytes;  // a page stays free behind each device
    TRY(areas.table.map_range(begin, physical - offset, whole,
                              {Access::read | Access::write, Privilege::kernel, cache, FrameOwnership::borrowed}));
    return begin + offset;
  });
}

MemoryInUse KernelMemory::in_use() {
  const HeapStatistics heap = heap_.statistics();
  const FrameStatistics frames = frames_.shared().with([](FrameAllocator& each) { return each.statistics(); });
  const std::uint64_t tables = areas_.with([](Areas& areas) { return areas.table.table_count(); });
  const std::uint64_t kept =
      frames_.cached() + heap_.with([](SlabAllocator& slabs) { return slabs.page_count(); }) + tables;
  return {heap.live_blocks, heap.live_bytes, frames.total - frames.free - kept};
}

}  // namespace ingot::os
