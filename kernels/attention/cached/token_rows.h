// Where the tokens of a cache lie, a tile of them at a time.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ingot {

// Tokens whose scores are looked at together: keys and values of 128 f16 dimensions are 32 KiB, so that what the
// second product prefetches meets the first-level cache.
inline constexpr std::int64_t token_tile = 64;

// The tokens of a tile for one head. Rows behind the count repeat the last one, so that blocks of tokens are whole.
struct TokenRows {
  static constexpr std::int64_t most = token_tile + 8;
  const std::byte* row[most];
  std::int64_t count = 0;
  std::int64_t dimensions = 0;    // whole vectors
  std::int64_t row_bytes = 0;     // from one token of a page to the next
  std::int64_t in_line = 0;       // rows of the first page, which lie as far apart
  const float* scales = nullptr;  // of coded rows, [token][block]
  std::int64_t blocks = 0;
};

}  // namespace ingot
