#include "os/gpu/located_memory.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace ingot::os {

namespace {

using accelerator::MemoryCode;

// Two frames: a single one may come from a CPU's own, which lie anywhere.
constexpr unsigned frame_order = 1;

// What a machine has as memory, whoever uses it.
bool is_memory(const MemoryRange& range) { return range.kind != MemoryKind::reserved && range.kind != MemoryKind::bad; }

// visit(PhysicalRange): whole pages that lie side by side.
template <class Visit>
Result<void> each_stretch(std::span<const MemoryRange> ranges, Visit&& visit) {
  for (std::size_t first = 0; first < ranges.size();) {
    std::size_t next = first + 1;
    const PhysicalAddress begin = ranges[first].begin.rounded_up(page_bytes);
    PhysicalAddress end = ranges[first].end();
    if (is_memory(ranges[first])) {
      while (next < ranges.size() && is_memory(ranges[next]) && ranges[next].begin == end) end = ranges[next++].end();
      end = end.rounded_down(page_bytes);
      if (begin < end) TRY(visit(PhysicalRange{begin, end - begin}));
    }
    first = next;
  }
  return {};
}

// An allocation that begins in the stretch. The source says nothing of places but zones, of which it gives the highest
// first: what lies elsewhere is held, each by the next, until one lies right.
std::optional<FrameNumber> take_frame_in(const PhysicalRange& stretch, FrameSource& frames, PhysicalWindow window) {
  constexpr PhysicalAddress sixteen_mib(std::uint64_t{16} << 20), four_gib(std::uint64_t{4} << 30);
  constexpr int most_tries = 2048;  // all of the lowest zone
  const Zone zone = stretch.end() > four_gib      ? Zone::any
                    : stretch.end() > sixteen_mib ? Zone::below_4_gib
                                                  : Zone::below_16_mib;
  std::optional<FrameNumber> found, last;
  for (int tries = 0; !found && tries < most_tries; ++tries) {
    const Result<FrameNumber> frame = frames.allocate(frame_order, zone);
    if (!frame.ok()) break;
    const PhysicalAddress begin = frame.value().address();
    if (begin >= stretch.begin && begin < stretch.end()) {
      found = frame.value();
    } else {
      *window.at<std::optional<FrameNumber>>(frame.value()) = std::exchange(last, frame.value());
    }
  }
  while (last) {
    const FrameNumber elsewhere = *last;
    last = *window.at<std::optional<FrameNumber>>(elsewhere);
    frames.release(elsewhere, frame_order);
  }
  return found;
}

}  // namespace

Result<void> LocatedMemory::locate(std::span<const MemoryRange> ranges, MemoryOwner& owner,
                                   AcceleratorMachine& machine) {
  TRY(each_stretch(ranges, [&](const PhysicalRange& stretch) -> Result<void> {
    return locate_one(stretch, owner, std::max<std::uint64_t>(machine.random(), 1));  // what nobody wrote is 0
  }));
  if (stretches_.size() != 0) return {};
  return Error::of(ErrorCode::not_found, "expected a frame of memory that an accelerator can be told of, found none");
}

Result<void> LocatedMemory::locate_one(const PhysicalRange& stretch, MemoryOwner& owner, std::uint64_t nonce) {
  if (stretches_.size() == most_stretches) return {};
  const std::optional<FrameNumber> frame = take_frame_in(stretch, frames_, window_);
  if (!frame) return {};
  const PhysicalAddress place = frame->address();
  std::fill_n(window_.at<std::uint64_t>(place), accelerator::nonce_repeats, nonce);
  const Result<std::uint64_t> found =
      owner.ask(MemoryCode::locate, {stretch.begin.value(), stretch.bytes, place.value(), nonce});
  window_.clear(place, page_bytes);
  frames_.release(*frame, frame_order);
  if (!found.ok()) return found.error();
  stretches_.add(stretch);
  return {};
}

bool LocatedMemory::holds(PhysicalAddress begin, std::uint64_t bytes) const {
  return std::ranges::any_of(stretches_.all(), [&](const PhysicalRange& stretch) {
    return begin >= stretch.begin && begin <= stretch.end() && bytes <= stretch.end() - begin;
  });
}

std::uint64_t LocatedMemory::bytes() const {
  std::uint64_t sum = 0;
  for (const PhysicalRange& stretch : stretches_.all()) sum += stretch.bytes;
  return sum;
}

}  // namespace ingot::os
