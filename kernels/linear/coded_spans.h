// Activations as the byte dot products read them: spans of 8-bit codes in the order in which a register of weights
// unpacks, with what belongs to them close by.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ingot {

// Four blocks of 32. A byte of nibbles holds elements j and j + 16, so the first halves of the four blocks come first.
struct alignas(64) CodedSpan32 {
  static constexpr int elements = 128;
  std::int8_t codes[2][64];
  std::int32_t corrections[16];  // what unsigned weight codes (code + offset) sum to too much, negated, lane by lane
  float scales[4];
  float scaled_sums[4];  // scale * sum of the block's codes
};

// One block of 256, in the order of a format's CodedOrder.
struct alignas(64) CodedSpan256 {
  static constexpr int elements = 256;
  std::int8_t codes[4][64];
  std::int32_t corrections[4][16];
  std::int16_t sums[16];  // of each group of 16 or 32, then zeros
  float scale;
};

constexpr std::size_t coded_span_bytes(std::int64_t rows, std::int64_t depth) {
  static_assert(2 * sizeof(CodedSpan32) <= sizeof(CodedSpan256));
  return static_cast<std::size_t>(rows * ((depth + 255) / 256)) * sizeof(CodedSpan256);
}

}  // namespace ingot
