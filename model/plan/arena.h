// Where activations lie: buffers whose lifetimes do not meet may share bytes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ingot {

// A buffer needed from step `first` to step `last`, both included.
struct BufferLife {
  std::int64_t bytes = 0;
  int first = 0;
  int last = 0;
  std::int64_t place = -1;  // where it must lie; -1: anywhere
};

struct ArenaLayout {
  std::vector<std::int64_t> offsets;  // of each buffer, multiples of arena_alignment
  std::int64_t bytes = 0;             // of the whole arena
  std::int64_t live_bytes = 0;        // the most that is alive at one step: no arena can be smaller
};

inline constexpr std::int64_t arena_alignment = 64;

// Each buffer at the lowest offset where it meets none that lives at the same time; the order in which they are placed
// decides how well they fit, and the best of a few is kept. Buffers that must lie somewhere do, multiples of
// arena_alignment; those that live together must not overlap there.
ArenaLayout lay_out(std::span<const BufferLife> buffers);

}  // namespace ingot
