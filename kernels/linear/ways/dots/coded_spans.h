// Activations as the byte dot products read them: spans of 8-bit codes in the order in which a register of weights
// unpacks, with what belongs to them close by.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "tensor/block_formats.h"

namespace ingot {

// What a format's stored codes have on top of the integers they stand for.
template <class Block>
inline constexpr int stored_offset = 0;
template <>
inline constexpr int stored_offset<BlockQ4_0> = 8;
template <>
inline constexpr int stored_offset<BlockQ5_0> = 16;
template <>
inline constexpr int stored_offset<BlockQ3_K> = 4;
template <>
inline constexpr int stored_offset<BlockQ6_K> = 32;

// Four blocks of 32. A byte of nibbles holds elements j and j + 16, so the first halves of the four blocks come first.
struct alignas(64) CodedSpan32 {
  static constexpr int elements = 128;
  std::int8_t codes[2][64];
  // What weight codes that carry an offset sum to too much, negated: as many lanes a block as an instruction set keeps.
  std::int32_t corrections[16];
  float scales[4];
  float scaled_sums[4];  // scale * sum of the block's codes
};

// Four neighbouring blocks of a row, the last of `count` again in place of those that are missing.
template <class Block, bool all>
struct FourBlocks {
  const Block* first;
  std::int64_t count;
  const Block* operator[](std::int64_t i) const { return first + (all ? i : std::min(i, count - 1)); }
};

// One block of 256, in the order of a format's CodedOrder.
struct alignas(64) CodedSpan256 {
  static constexpr int elements = 256;
  std::int8_t codes[4][64];
  std::int32_t corrections[4][16];
  std::int16_t sums[16];  // of each group of 16 or 32, then zeros
  float scale;
};

// In which order the sixteen sixteens of elements stand in a span: as bytes unpack, 64 at a time.
template <class Block>
struct CodedOrder;
template <>
struct CodedOrder<BlockQ4_K> {
  static constexpr int sixteens[16] = {0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15};
};
template <>
struct CodedOrder<BlockQ5_K> : CodedOrder<BlockQ4_K> {};
template <>
struct CodedOrder<BlockQ2_K> {
  static constexpr int sixteens[16] = {0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15};
};
template <>
struct CodedOrder<BlockQ3_K> : CodedOrder<BlockQ2_K> {};
template <>
struct CodedOrder<BlockQ6_K> {
  static constexpr int sixteens[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
};

// A register of 64 bytes has the first or the second halves of four groups; on aarch64 one of 16 has one of either, and
// halves of a group come together.
template <>
struct CodedOrder<BlockIQ4_XS> {
#if defined(__aarch64__)
  static constexpr int sixteens[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
#else
  static constexpr int sixteens[16] = {0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15};
#endif
};

constexpr std::size_t coded_span_bytes(std::int64_t rows, std::int64_t depth) {
  static_assert(2 * sizeof(CodedSpan32) <= sizeof(CodedSpan256));
  return static_cast<std::size_t>(rows * ((depth + 255) / 256)) * sizeof(CodedSpan256);
}

}  // namespace ingot
