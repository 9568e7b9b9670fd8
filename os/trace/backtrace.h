// Who called whom, read from the chain of frame pointers. On x86_64 and aarch64 alike, a frame pointer points at the
// caller's frame pointer, and the return address stands above it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "os/memory/address.h"

namespace ingot::os {

inline constexpr std::size_t deepest_backtrace = 24;

// Calls visit(return address) from the innermost caller outwards. read(address) is a word of memory, or nothing where
// there is none: a broken chain ends the walk and never faults. Frames must ascend, so that a loop ends as well.
template <class Read, class Visit>
void walk_frames(VirtualAddress frame, Read&& read, Visit&& visit) {
  for (std::size_t depth = 0; depth < deepest_backtrace; ++depth) {
    if (frame.value() == 0 || !frame.aligned(8)) return;
    const std::optional<std::uint64_t> caller_frame = read(frame);
    const std::optional<std::uint64_t> return_address = read(frame + 8);
    if (!caller_frame || !return_address || *return_address == 0) return;
    visit(VirtualAddress(*return_address));
    if (*caller_frame <= frame.value()) return;
    frame = VirtualAddress(*caller_frame);
  }
}

}  // namespace ingot::os
