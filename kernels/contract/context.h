// What a running kernel may use besides its arguments.
#pragma once

#include <cstddef>
#include <span>

#include "machine/workers.h"

namespace ingot {

struct Context {
  Workers& workers;
  std::span<std::byte> scratch;  // at least what the variant's scratch_bytes asked for, aligned to 64 bytes
};

// How many rows make a chunk worth handing to another thread. A fork-join costs about 2 us, in which a core streams
// some 64 KiB: chunks of that size keep the overhead in the noise. It depends on the shape alone, never on the threads.
constexpr std::int64_t rows_per_chunk(std::int64_t bytes_per_row, std::int64_t chunk_bytes = 64 << 10) {
  return bytes_per_row <= 0 || bytes_per_row >= chunk_bytes ? 1 : chunk_bytes / bytes_per_row;
}

}  // namespace ingot
