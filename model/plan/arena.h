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
};

struct ArenaLayout {
  std::vector<std::int64_t> offsets;  // of each buffer, multiples of arena_alignment
  std::int64_t bytes = 0;             // of the whole arena
  std::int64_t sum_bytes = 0;         // what it would be without sharing
};

inline constexpr std::int64_t arena_alignment = 64;

// Largest buffers first, each at the lowest offset where it meets none that lives at the same time. Within a few per
// cent of the lower bound (the largest sum of buffers alive at one step) on the circuits of transformers.
ArenaLayout lay_out(std::span<const BufferLife> buffers);

}  // namespace ingot
