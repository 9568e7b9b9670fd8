// What a running kernel may use besides its arguments.
#pragma once

#include <cstddef>
#include <span>

#include "machine/gpu/queue.h"
#include "machine/workers.h"

namespace ingot {

class CallQueue;

struct Context {
  Workers& workers;
  // At least what the variant's scratch_bytes asked for, aligned to 64 bytes; in the place of the variant.
  std::span<std::byte> scratch;
  Queue* queue = nullptr;  // where a device's variant puts its work; null on the host
  // Where whole calls are put on a device that takes them: its variants are not this program's. Else null.
  CallQueue* calls = nullptr;
};

// How many rows make a chunk worth handing to another thread. A fork-join costs about 2 us, in which a core streams
// some 64 KiB: chunks of that size keep the overhead in the noise. It depends on the shape alone, never on the threads.
constexpr std::int64_t rows_per_chunk(std::int64_t bytes_per_row, std::int64_t chunk_bytes = 64 << 10) {
  return bytes_per_row <= 0 || bytes_per_row >= chunk_bytes ? 1 : chunk_bytes / bytes_per_row;
}

}  // namespace ingot
