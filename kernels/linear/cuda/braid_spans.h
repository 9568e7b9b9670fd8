// Spans of weights that lie interleaved, eight rows of blocks together (tensor/interleaved.h), as lanes of a matrix
// instruction see them. Lane 4 g + t has row g of a braid, whichever half of the warp's sixteen it is.
#pragma once

#include "kernels/linear/cuda/block_products_cuda.h"
#include "kernels/linear/cuda/weight_spans.h"
#include "tensor/interleaved_codes.h"

namespace ingot::device {

inline constexpr unsigned braid_rows = 8;

// The braid that a row of the warp's place belongs to; null stays null.
INGOT_ON_DEVICE const std::byte* braid_of(const BlockProducts& parameters, const std::byte* row) {
  return row == nullptr ? nullptr : row - lane_index() / 4 * parameters.product.row_bytes;
}

namespace span_detail {

// Quad `at` of this lane's row: four bytes, those of the eight rows after each other.
INGOT_ON_DEVICE std::uint32_t quad(const std::byte* quads, unsigned at) {
  return word(quads, 32 * at + lane_index() / 4 * 4);
}
// The one of four that belongs to lane t: an index that differs between lanes would put them into memory.
INGOT_ON_DEVICE std::uint32_t pick(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) {
  const unsigned t = lane_index() % 4;
  return t < 2 ? (t == 0 ? a : b) : (t == 2 ? c : d);
}
INGOT_ON_DEVICE std::uint32_t byte(const std::byte* at, unsigned offset) {
  return static_cast<std::uint32_t>(at[offset]);
}
// The n-th of four numbers of 6 bits that lie in three bytes.
INGOT_ON_DEVICE std::uint32_t six(const std::uint32_t (&bytes)[3], unsigned n) {
  if (n < 3) return low_bits<6>(n == 0 ? bytes[0] : n == 1 ? bytes[1] : bytes[2]);
  return low_bits<2>(bytes[0] >> 6) | low_bits<2>(bytes[1] >> 6) << 2 | low_bits<2>(bytes[2] >> 6) << 4;
}

}  // namespace span_detail

// q4_0, q8_0 and q5_0.
INGOT_ON_DEVICE void load_braid_span(DType type, const std::byte* span, unsigned groups, SpanCodes& codes,
                                     SpanScales32& scales) {
  using namespace span_detail;
  const unsigned row = lane_index() / 4;
  const unsigned t = lane_index() % 4;
  switch (type) {
    case DType::q4_0:
      unpack_blocks(span, groups, braid_rows * sizeof(BlockQ4_0), codes, scales,
                    [=](const std::byte* braid, std::uint32_t(&words)[2], float& scale, float&) {
                      scale = first_half(word(braid, 2 * row));
                      const std::uint32_t both = quad(braid + 16, t);
                      words[0] = less<8>(low_bits<4>(both));
                      words[1] = less<8>(low_bits<4>(both >> 4));
                    });
      return;
    case DType::q8_0:
      unpack_blocks(span, groups, braid_rows * sizeof(BlockQ8_0), codes, scales,
                    [=](const std::byte* braid, std::uint32_t(&words)[2], float& scale, float&) {
                      scale = first_half(word(braid, 2 * row));
                      words[0] = quad(braid + 16, t);
                      words[1] = quad(braid + 16, t + 4);
                    });
      return;
    default:
      unpack_blocks(span, groups, braid_rows * sizeof(BlockQ5_0), codes, scales,
                    [=](const std::byte* braid, std::uint32_t(&words)[2], float& scale, float&) {
                      scale = first_half(word(braid, 2 * row));
                      CodeWord bytes[5];
                      CodeWord fives[8];
                      INGOT_UNROLL
                      for (unsigned i = 0; i < 5; ++i) bytes[i] = quad(braid + 16, i);
                      unpack_fives(bytes, fives);
                      words[0] = less<16>(pick(fives[0], fives[1], fives[2], fives[3]));
                      words[1] = less<16>(pick(fives[4], fives[5], fives[6], fives[7]));
                    });
      return;
  }
}

namespace span_detail {

INGOT_ON_DEVICE void load_q4_k(const std::byte* braid, SpanCodes& codes, SpanScales256& scales) {
  const unsigned row = lane_index() / 4;
  scales.scale = first_half(word(braid, 2 * row));
  scales.minimum = first_half(word(braid, 16 + 2 * row));
  std::uint32_t of_groups[2] = {0, 0};  // scales of groups 0 to 3 and 4 to 7
  INGOT_UNROLL
  for (unsigned parity = 0; parity < 2; ++parity) {
    std::uint32_t bytes[3];
    INGOT_UNROLL
    for (unsigned i = 0; i < 3; ++i) bytes[i] = byte(braid, 32 + 16 * i + 8 * parity + row);
    INGOT_UNROLL
    for (unsigned n = 0; n < 4; ++n) of_groups[n / 2] |= (six(bytes, n) & 63u) << (8 * (n % 2 * 2 + parity));
  }
  std::uint32_t bytes[3];
  INGOT_UNROLL
  for (unsigned i = 0; i < 3; ++i) bytes[i] = word(braid, 80 + 16 * i + row % 4 * 4);
  INGOT_UNROLL
  for (unsigned half = 0; half < 2; ++half) {
    double_bytes(of_groups[half], scales.group_scales + 2 * half);
    double_bytes(six(bytes, 2 * half + row / 4), scales.group_minimums + 2 * half);
  }
  const unsigned first = lane_index() % 4 * 4;
  unpack_words(codes, [=](unsigned group, unsigned further) {
    const unsigned at = group / 2 * 32 + further + first;  // of the row's bytes, which lie in eights
    return low_bits<4>(word(braid, 128 + at / 8 * 64 + row * 8 + at % 8) >> (group % 2 * 4));
  });
}

INGOT_ON_DEVICE void load_q6_k(const std::byte* braid, SpanCodes& codes, SpanScales256& scales) {
  const unsigned row = lane_index() / 4;
  scales.scale = first_half(word(braid, 2 * row));
  INGOT_UNROLL
  for (unsigned group = 0; group < 16; ++group) {
    const std::uint32_t scale = byte(braid, 16 + 8 * group + row) << (group % 4 * 8);
    scales.group_scales[group / 4] = group % 4 == 0 ? scale : scales.group_scales[group / 4] | scale;
  }
  unpack_words(codes, [=](unsigned group, unsigned further) {
    const unsigned sixteen = 2 * group + further / 16;
    CodeWord bytes[3];
    CodeWord sixes[4];
    INGOT_UNROLL
    for (unsigned i = 0; i < 3; ++i) bytes[i] = quad(braid + 144, 3 * sixteen + i);
    unpack_sixes(bytes, sixes);
    return less<32>(pick(sixes[0], sixes[1], sixes[2], sixes[3]));
  });
}

}  // namespace span_detail

// q4_k and q6_k.
INGOT_ON_DEVICE void load_braid_span(DType type, const std::byte* braid, SpanCodes& codes, SpanScales256& scales) {
  scales.minimum = 0;
  INGOT_UNROLL
  for (unsigned i = 0; i < 4; ++i) scales.group_minimums[i] = 0;
  if (type == DType::q4_k) return span_detail::load_q4_k(braid, codes, scales);
  span_detail::load_q6_k(braid, codes, scales);
}

}  // namespace ingot::device
