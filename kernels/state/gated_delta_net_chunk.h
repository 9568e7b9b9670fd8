// How many tokens a chunk of the gated delta rule holds, and what a thread keeps while it works on one.
#pragma once

#include <cstdint>

namespace ingot {

inline constexpr std::int64_t chunk_tokens = 32;

// Lies in scratch memory; see gated_delta_net_chunked_simd.cc for the letters.
struct ChunkMemory {
  float* keys;      // [K, chunk]: the chunk's keys, transposed
  float* erasing;   // [chunk, chunk]: beta_i d_ij <key_i, key_j>
  float* reading;   // [chunk, chunk]: scale d_ij <query_i, key_j>
  float* products;  // [chunk, chunk]: d_ij
  float* written;   // [chunk, V]: u

  static std::int64_t floats(std::int64_t key_width, std::int64_t value_width) {
    return chunk_tokens * (key_width + value_width + 3 * chunk_tokens);
  }
  static ChunkMemory at(float* base, std::int64_t key_width) {
    float* const matrices = base + chunk_tokens * key_width;
    constexpr std::int64_t square = chunk_tokens * chunk_tokens;
    return {base, matrices, matrices + square, matrices + 2 * square, matrices + 3 * square};
  }
};

}  // namespace ingot
