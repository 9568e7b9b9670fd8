// A lane's share of a tile of planes (tensor/plane_tiles.h) in registers: of rows g and g + 8, words of codes as a
// matrix instruction takes them, and what scales them.
#pragma once

#include "kernels/device/memory.h"
#include "kernels/device/numbers.h"
#include "kernels/linear/cuda/weight_spans.h"
#include "tensor/plane_tiles.h"

namespace ingot::device {

// Words of both halves, for one group of 32: parts 0 and 1 of row g, and of row g + 8.
struct GroupWords {
  std::uint32_t words[2][2];  // [half][part]
};

struct NibbleUnits {
  Words16 units[2][2];  // [half][u]

  INGOT_ON_DEVICE void load(const NibblePlane& plane) {
    INGOT_UNROLL
    for (unsigned half = 0; half < 2; ++half) {
      INGOT_UNROLL
      for (unsigned u = 0; u < 2; ++u) units[half][u] = load16(&plane.units[u][half][lane_index()]);
    }
  }
  INGOT_ON_DEVICE GroupWords words(unsigned group) const {
    GroupWords result;
    INGOT_UNROLL
    for (unsigned half = 0; half < 2; ++half) {
      const std::uint32_t both = units[half][group / 4].words[group % 4];
      result.words[half][0] = span_detail::low_bits<4>(both);
      result.words[half][1] = span_detail::low_bits<4>(both >> 4);
    }
    return result;
  }
};

struct FifthBits {
  Words16 unit;  // two words of each half

  INGOT_ON_DEVICE void load(const FifthBitPlane& plane) { unit = load16(&plane.words[lane_index()]); }
  INGOT_ON_DEVICE void add(GroupWords& to, unsigned group) const {
    INGOT_UNROLL
    for (unsigned half = 0; half < 2; ++half) {
      const std::uint32_t bits = unit.words[2 * half + group / 4] >> group % 4 * 2;
      to.words[half][0] |= span_detail::low_bits<1>(bits) << 4;
      to.words[half][1] |= span_detail::low_bits<1>(bits >> 1) << 4;
    }
  }
};

template <unsigned Zero>
INGOT_ON_DEVICE void take_zero(GroupWords& words) {
  INGOT_UNROLL
  for (unsigned half = 0; half < 2; ++half) {
    INGOT_UNROLL
    for (unsigned part = 0; part < 2; ++part)
      words.words[half][part] = span_detail::less<Zero>(words.words[half][part]);
  }
}

// What lies row by row, 16 bytes each: of rows g and g + 8.
INGOT_ON_DEVICE void load_row_units(Words16 (&units)[2], const void* rows) {
  INGOT_UNROLL
  for (unsigned half = 0; half < 2; ++half) {
    units[half] = load16(static_cast<const std::byte*>(rows) + (lane_index() / 4 + 8 * half) * 16);
  }
}

// --- blocks of 32: words of codes with their sign, and a scale a group ---

struct ScaleUnits {
  Words16 units[2];

  INGOT_ON_DEVICE float scale(unsigned half, unsigned group) const {
    const std::uint32_t pair = units[half].words[group / 2];
    return group % 2 == 0 ? first_half(pair) : second_half(pair);
  }
};

template <class Block>
struct PlaneUnits;

template <>
struct PlaneUnits<BlockQ8_0> : ScaleUnits {
  Words16 codes[2][4];

  INGOT_ON_DEVICE void load(const PlaneTile<BlockQ8_0>& tile) {
    INGOT_UNROLL
    for (unsigned half = 0; half < 2; ++half) {
      INGOT_UNROLL
      for (unsigned u = 0; u < 4; ++u) codes[half][u] = load16(&tile.codes[u][half][lane_index()]);
    }
    load_row_units(units, tile.scales);
  }
  INGOT_ON_DEVICE GroupWords words(unsigned group) const {
    GroupWords result;
    INGOT_UNROLL
    for (unsigned half = 0; half < 2; ++half) {
      INGOT_UNROLL
      for (unsigned part = 0; part < 2; ++part) {
        result.words[half][part] = codes[half][group / 2].words[group % 2 * 2 + part];
      }
    }
    return result;
  }
};

template <>
struct PlaneUnits<BlockQ4_0> : ScaleUnits {
  NibbleUnits low;

  INGOT_ON_DEVICE void load(const PlaneTile<BlockQ4_0>& tile) {
    low.load(tile.low);
    load_row_units(units, tile.scales);
  }
  INGOT_ON_DEVICE GroupWords words(unsigned group) const {
    GroupWords result = low.words(group);
    take_zero<8>(result);
    return result;
  }
};

template <>
struct PlaneUnits<BlockQ5_0> : ScaleUnits {
  NibbleUnits low;
  FifthBits high;

  INGOT_ON_DEVICE void load(const PlaneTile<BlockQ5_0>& tile) {
    low.load(tile.low);
    high.load(tile.high);
    load_row_units(units, tile.scales);
  }
  INGOT_ON_DEVICE GroupWords words(unsigned group) const {
    GroupWords result = low.words(group);
    high.add(result, group);
    take_zero<16>(result);
    return result;
  }
};

// --- blocks of 256: words of codes, and integers of each group under one or two numbers ---

// Two halves, and the 6-bit scales and minimums of q4_k and q5_k.
struct HeadUnits {
  static constexpr bool has_minimums = true;
  Words16 heads[2];

  INGOT_ON_DEVICE float scale(unsigned half) const { return first_half(heads[half].words[0]); }
  INGOT_ON_DEVICE float minimum(unsigned half) const { return second_half(heads[half].words[0]); }
  // Of groups 4 i to 4 i + 3, a byte each.
  INGOT_ON_DEVICE std::uint32_t group_scales(unsigned half, unsigned i) const {
    using namespace span_detail;
    const Words16& head = heads[half];
    return i == 0 ? low_bits<6>(head.words[1]) : low_bits<4>(head.words[3]) | low_bits<2>(head.words[1] >> 6) << 4;
  }
  INGOT_ON_DEVICE std::uint32_t group_minimums(unsigned half, unsigned i) const {
    using namespace span_detail;
    const Words16& head = heads[half];
    return i == 0 ? low_bits<6>(head.words[2]) : low_bits<4>(head.words[3] >> 4) | low_bits<2>(head.words[2] >> 6) << 4;
  }
};

template <>
struct PlaneUnits<BlockQ4_K> : HeadUnits {
  NibbleUnits low;

  INGOT_ON_DEVICE void load(const PlaneTile<BlockQ4_K>& tile) {
    low.load(tile.low);
    load_row_units(heads, tile.heads);
  }
  INGOT_ON_DEVICE GroupWords words(unsigned group) const { return low.words(group); }
};

template <>
struct PlaneUnits<BlockQ5_K> : HeadUnits {
  NibbleUnits low;
  FifthBits high;

  INGOT_ON_DEVICE void load(const PlaneTile<BlockQ5_K>& tile) {
    low.load(tile.low);
    high.load(tile.high);
    load_row_units(heads, tile.heads);
  }
  INGOT_ON_DEVICE GroupWords words(unsigned group) const {
    GroupWords result = low.words(group);
    high.add(result, group);
    return result;
  }
};

// Groups of 16: the scales of part 0 and part 1 of each 32.
template <>
struct PlaneUnits<BlockQ6_K> {
  static constexpr bool has_minimums = false;
  NibbleUnits low;
  Words16 high[2];
  Words16 group_units[2];
  std::uint16_t scales[2];

  INGOT_ON_DEVICE void load(const PlaneTile<BlockQ6_K>& tile) {
    low.load(tile.low);
    load_row_units(group_units, tile.group_scales);
    INGOT_UNROLL
    for (unsigned half = 0; half < 2; ++half) {
      high[half] = load16(&tile.high[half][lane_index()]);
      scales[half] = load_unit<std::uint16_t>(&tile.scales[lane_index() / 4 + 8 * half]);
    }
  }
  INGOT_ON_DEVICE float scale(unsigned half) const { return to_float(half_of_bits(scales[half])); }
  INGOT_ON_DEVICE std::int32_t group_scale(unsigned half, unsigned group, unsigned part) const {
    return static_cast<std::int8_t>(group_units[half].words[group / 2] >> (group % 2 * 2 + part) * 8 & 255u);
  }
  INGOT_ON_DEVICE GroupWords words(unsigned group) const {
    GroupWords result = low.words(group);
    INGOT_UNROLL
    for (unsigned half = 0; half < 2; ++half) {
      const std::uint32_t bits = high[half].words[group / 2] >> group % 2 * 4;
      result.words[half][0] |= span_detail::low_bits<2>(bits) << 4;
      result.words[half][1] |= span_detail::low_bits<2>(bits >> 2) << 4;
    }
    take_zero<32>(result);
    return result;
  }
};

}  // namespace ingot::device
