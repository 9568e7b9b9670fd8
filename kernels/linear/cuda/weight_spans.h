// Spans of weights, 256 elements of a row as its format stores them (tensor/block_formats.h), unpacked into what a lane
// of a matrix instruction holds: of each group of 32 the codes 4 t to 4 t + 3, and those 16 further. Bytes are read as
// words from where they lie, which may be anywhere.
#pragma once

#include "kernels/device/memory.h"
#include "kernels/device/numbers.h"
#include "kernels/linear/cuda/prepared_x_cuda.h"
#include "tensor/block_formats.h"

namespace ingot::device {

// Of one row.
struct SpanCodes {
  std::uint32_t words[span_groups][2];
};
// Blocks of 32: a scale each, and what is added to each element.
struct SpanScales32 {
  float scales[span_groups];
  float bases[span_groups];
};
// A block of 256: two numbers, and 8-bit integers of each 16 elements, in order.
struct SpanScales256 {
  float scale;
  float minimum;
  std::uint32_t group_scales[4];
  std::uint32_t group_minimums[4];
};

namespace span_detail {

INGOT_ON_DEVICE std::uint32_t word(const std::byte* at, unsigned offset) { return load4_anywhere(at + offset); }

// Four unsigned codes below 2^7 less `zero`, each in its byte: the sum stays in the byte, whose sign is turned.
template <unsigned Zero>
INGOT_ON_DEVICE std::uint32_t less(std::uint32_t codes) {
  return (codes + (0x80u - Zero) * 0x01010101u) ^ 0x80808080u;
}
template <unsigned Count>
INGOT_ON_DEVICE std::uint32_t low_bits(std::uint32_t word) {
  return word & ((1u << Count) - 1) * 0x01010101u;
}
// Four bits to the bottom of four bytes.
INGOT_ON_DEVICE std::uint32_t spread(std::uint32_t four) { return (four & 15u) * 0x00204081u & 0x01010101u; }

// A table of 16 bytes in two registers.
struct ByteTable {
  std::uint64_t halves[2];
};
constexpr ByteTable table_of(const std::int8_t (&values)[16]) {
  ByteTable table = {};
  for (int i = 0; i < 16; ++i) {
    table.halves[i / 8] |= std::uint64_t{static_cast<std::uint8_t>(values[i])} << (i % 8 * 8);
  }
  return table;
}
INGOT_ON_DEVICE std::uint32_t look_up(ByteTable table, std::uint32_t nibbles) {
  std::uint32_t result = 0;
  INGOT_UNROLL
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned nibble = nibbles >> (8 * i) & 15u;
    const std::uint64_t half = nibble < 8 ? table.halves[0] : table.halves[1];
    result |= (static_cast<std::uint32_t>(half >> (nibble % 8 * 8)) & 255u) << (8 * i);
  }
  return result;
}

// Codes of four bits: those 16 further stand in the upper halves of the same bytes.
INGOT_ON_DEVICE void nibbles(const std::byte* low, unsigned t, std::uint32_t (&words)[2]) {
  const std::uint32_t both = word(low, 4 * t);
  words[0] = low_bits<4>(both);
  words[1] = low_bits<4>(both >> 4);
}
INGOT_ON_DEVICE void fifth_bits(std::uint32_t high, unsigned t, std::uint32_t (&words)[2]) {
  words[0] |= spread(high >> (4 * t)) << 4;
  words[1] |= spread(high >> (16 + 4 * t)) << 4;
}

}  // namespace span_detail

// The first `groups` blocks of 32 of a span; those that are not there are zeros.
template <class Unpack>
INGOT_ON_DEVICE void unpack_blocks(const std::byte* span, unsigned groups, unsigned block_bytes, SpanCodes& codes,
                                   SpanScales32& scales, Unpack unpack) {
  INGOT_UNROLL
  for (unsigned group = 0; group < span_groups; ++group) {
    codes.words[group][0] = 0;
    codes.words[group][1] = 0;
    scales.scales[group] = 0;
    scales.bases[group] = 0;
    if (group < groups) {
      unpack(span + group * block_bytes, codes.words[group], scales.scales[group], scales.bases[group]);
    }
  }
}

// A span of a format with blocks of 32, as lanes t of a group of four see it.
INGOT_ON_DEVICE void load_span(DType type, const std::byte* span, unsigned groups, unsigned t, SpanCodes& codes,
                               SpanScales32& scales) {
  using namespace span_detail;
  switch (type) {
    case DType::q4_0:
      unpack_blocks(span, groups, sizeof(BlockQ4_0), codes, scales,
                    [t](const std::byte* block, std::uint32_t(&words)[2], float& scale, float&) {
                      scale = first_half(word(block, 0));
                      nibbles(block + 2, t, words);
                      words[0] = less<8>(words[0]);
                      words[1] = less<8>(words[1]);
                    });
      return;
    case DType::q4_1:
      unpack_blocks(span, groups, sizeof(BlockQ4_1), codes, scales,
                    [t](const std::byte* block, std::uint32_t(&words)[2], float& scale, float& base) {
                      const std::uint32_t halves = word(block, 0);
                      scale = first_half(halves);
                      base = second_half(halves);
                      nibbles(block + 4, t, words);
                    });
      return;
    case DType::q5_0:
      unpack_blocks(span, groups, sizeof(BlockQ5_0), codes, scales,
                    [t](const std::byte* block, std::uint32_t(&words)[2], float& scale, float&) {
                      scale = first_half(word(block, 0));
                      nibbles(block + 6, t, words);
                      fifth_bits(word(block, 2), t, words);
                      words[0] = less<16>(words[0]);
                      words[1] = less<16>(words[1]);
                    });
      return;
    case DType::q5_1:
      unpack_blocks(span, groups, sizeof(BlockQ5_1), codes, scales,
                    [t](const std::byte* block, std::uint32_t(&words)[2], float& scale, float& base) {
                      const std::uint32_t halves = word(block, 0);
                      scale = first_half(halves);
                      base = second_half(halves);
                      nibbles(block + 8, t, words);
                      fifth_bits(word(block, 4), t, words);
                    });
      return;
    case DType::q8_0:
      unpack_blocks(span, groups, sizeof(BlockQ8_0), codes, scales,
                    [t](const std::byte* block, std::uint32_t(&words)[2], float& scale, float&) {
                      scale = first_half(word(block, 0));
                      words[0] = word(block, 2 + 4 * t);
                      words[1] = word(block, 18 + 4 * t);
                    });
      return;
    case DType::iq4_nl:
      unpack_blocks(span, groups, sizeof(BlockIQ4_NL), codes, scales,
                    [t](const std::byte* block, std::uint32_t(&words)[2], float& scale, float&) {
                      constexpr ByteTable table = table_of(iq4_nl_values);
                      scale = first_half(word(block, 0));
                      nibbles(block + 2, t, words);
                      words[0] = look_up(table, words[0]);
                      words[1] = look_up(table, words[1]);
                    });
      return;
    default:
      unpack_blocks(span, groups, sizeof(BlockMXFP4), codes, scales,
                    [t](const std::byte* block, std::uint32_t(&words)[2], float& scale, float&) {
                      constexpr ByteTable table = table_of(mxfp4_values);
                      scale = mxfp4_scale(static_cast<std::uint8_t>(block[0]));
                      nibbles(block + 1, t, words);
                      words[0] = look_up(table, words[0]);
                      words[1] = look_up(table, words[1]);
                    });
      return;
  }
}

namespace span_detail {

// Every byte twice: groups of 32 as two of 16.
INGOT_ON_DEVICE void double_bytes(std::uint32_t four, std::uint32_t* words) {
  INGOT_UNROLL
  for (unsigned i = 0; i < 4; ++i) {
    const std::uint32_t value = four >> (8 * i) & 255u;
    words[i / 2] = (i % 2 == 0 ? 0u : words[i / 2]) | (value | value << 8) << (i % 2 * 16);
  }
}

// The 6-bit scales and minimums of q4_k and q5_k (k_scale, k_minimum).
INGOT_ON_DEVICE void six_bit_scales(const std::byte* packed, SpanScales256& scales) {
  const std::uint32_t first = word(packed, 0);
  const std::uint32_t second = word(packed, 4);
  const std::uint32_t third = word(packed, 8);
  double_bytes(low_bits<6>(first), scales.group_scales);
  double_bytes(low_bits<6>(second), scales.group_minimums);
  double_bytes(low_bits<4>(third) | low_bits<2>(first >> 6) << 4, scales.group_scales + 2);
  double_bytes(low_bits<4>(third >> 4) | low_bits<2>(second >> 6) << 4, scales.group_minimums + 2);
}

// unpack(group, half: 0 or 1, word) for all words of a block.
template <class Unpack>
INGOT_ON_DEVICE void unpack_words(SpanCodes& codes, Unpack unpack) {
  INGOT_UNROLL
  for (unsigned group = 0; group < span_groups; ++group) {
    INGOT_UNROLL
    for (unsigned half = 0; half < 2; ++half) codes.words[group][half] = unpack(group, 16 * half);
  }
}

}  // namespace span_detail

// A block of a format with blocks of 256.
INGOT_ON_DEVICE void load_span(DType type, const std::byte* block, unsigned t, SpanCodes& codes,
                               SpanScales256& scales) {
  using namespace span_detail;
  const unsigned first = 4 * t;
  scales.minimum = 0;
  INGOT_UNROLL
  for (unsigned i = 0; i < 4; ++i) scales.group_minimums[i] = 0;
  switch (type) {
    case DType::q2_k: {
      const std::uint32_t halves = word(block, 80);
      scales.scale = first_half(halves);
      scales.minimum = second_half(halves);
      INGOT_UNROLL
      for (unsigned i = 0; i < 4; ++i) {
        const std::uint32_t packed = word(block, 4 * i);
        scales.group_scales[i] = low_bits<4>(packed);
        scales.group_minimums[i] = low_bits<4>(packed >> 4);
      }
      unpack_words(codes, [=](unsigned group, unsigned further) {
        return low_bits<2>(word(block, 16 + group / 4 * 32 + further + first) >> (group % 4 * 2));
      });
      return;
    }
    case DType::q3_k: {
      scales.scale = second_half(word(block, 106));
      const std::uint32_t low[2] = {word(block, 96), word(block, 100)};
      const std::uint32_t high = word(block, 104);
      INGOT_UNROLL
      for (unsigned i = 0; i < 4; ++i) {
        scales.group_scales[i] = less<32>(low_bits<4>(low[i % 2] >> (i / 2 * 4)) | low_bits<2>(high >> (2 * i)) << 4);
      }
      unpack_words(codes, [=](unsigned group, unsigned further) {
        const std::uint32_t two = low_bits<2>(word(block, 32 + group / 4 * 32 + further + first) >> (group % 4 * 2));
        return less<4>(two | low_bits<1>(word(block, further + first) >> group) << 2);
      });
      return;
    }
    case DType::q4_k: {
      const std::uint32_t halves = word(block, 0);
      scales.scale = first_half(halves);
      scales.minimum = second_half(halves);
      six_bit_scales(block + 4, scales);
      unpack_words(codes, [=](unsigned group, unsigned further) {
        return low_bits<4>(word(block, 16 + group / 2 * 32 + further + first) >> (group % 2 * 4));
      });
      return;
    }
    case DType::q5_k: {
      const std::uint32_t halves = word(block, 0);
      scales.scale = first_half(halves);
      scales.minimum = second_half(halves);
      six_bit_scales(block + 4, scales);
      unpack_words(codes, [=](unsigned group, unsigned further) {
        const std::uint32_t four = low_bits<4>(word(block, 48 + group / 2 * 32 + further + first) >> (group % 2 * 4));
        return four | low_bits<1>(word(block, 16 + further + first) >> group) << 4;
      });
      return;
    }
    case DType::iq4_xs: {
      const std::uint32_t start = word(block, 0), low = word(block, 4);
      scales.scale = first_half(start);
      INGOT_UNROLL
      for (unsigned i = 0; i < 2; ++i) {
        const std::uint32_t four = low >> (16 * i), two = start >> (16 + 8 * i);
        const std::uint32_t lower = (four & 0xfu) | (four & 0xf0u) << 4 | (four & 0xf00u) << 8 | (four & 0xf000u) << 12;
        const std::uint32_t upper = (two & 3u) | (two & 0xcu) << 6 | (two & 0x30u) << 12 | (two & 0xc0u) << 18;
        double_bytes(less<32>(lower | upper << 4), scales.group_scales + 2 * i);
      }
      unpack_words(codes, [=](unsigned group, unsigned further) {
        constexpr ByteTable table = table_of(iq4_nl_values);
        return look_up(table, low_bits<4>(word(block, 8 + 16 * group + first) >> (further / 4)));
      });
      return;
    }
    default: {  // q6_k
      scales.scale = second_half(word(block, 206));
      INGOT_UNROLL
      for (unsigned i = 0; i < 4; ++i) scales.group_scales[i] = word(block, 192 + 4 * i);
      unpack_words(codes, [=](unsigned group, unsigned further) {
        const unsigned half = group / 4;
        const unsigned within = group % 4;
        const std::uint32_t low = word(block, half * 64 + within % 2 * 32 + further + first) >> (within / 2 * 4);
        const std::uint32_t high = word(block, 128 + half * 32 + further + first) >> (within * 2);
        return less<32>(low_bits<4>(low) | low_bits<2>(high) << 4);
      });
      return;
    }
  }
}

// Whether groups of 16 have scales of their own, rather than those of 32.
constexpr bool has_sixteens(DType type) { return type == DType::q2_k || type == DType::q3_k || type == DType::q6_k; }

// A signed byte of four words.
INGOT_ON_DEVICE std::int32_t byte_at(const std::uint32_t (&words)[4], unsigned index) {
  return static_cast<std::int8_t>(words[index / 4] >> (index % 4 * 8) & 255u);
}

}  // namespace ingot::device
