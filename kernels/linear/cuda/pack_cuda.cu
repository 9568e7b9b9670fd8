// Weights into planes: a warp for a tile. Each lane gathers the words of its two rows as a product takes them.
#include "kernels/linear/cuda/pack_cuda.h"

#include "kernels/device/blocks.h"
#include "tensor/plane_tiles.h"

namespace ingot::device {
namespace {

constexpr unsigned groups = plane_depth / 32;

// What codes of a format are counted from.
template <class Block>
constexpr unsigned zero_of = 0;
template <>
constexpr unsigned zero_of<BlockQ4_0> = 8;
template <>
constexpr unsigned zero_of<BlockQ5_0> = 16;
template <>
constexpr unsigned zero_of<BlockQ6_K> = 32;

// Four codes of an element on of 256, without a sign but for q8_0.
template <class Block>
INGOT_ON_DEVICE std::uint32_t raw_codes(const Block* blocks, unsigned element) {
  const std::uint32_t codes = codes_at(blocks[element / Block::elements], element % Block::elements);
  if constexpr (zero_of<Block> == 0) return codes;
  return (codes ^ 0x80808080u) - (0x80u - zero_of<Block>)*0x01010101u;
}

struct LaneWords {
  std::uint32_t words[2][groups][2];  // [half][group][part]
};

template <class Block>
INGOT_ON_DEVICE LaneWords gather_words(const PackedPlanes& parameters, unsigned sixteen, unsigned span) {
  LaneWords lane;
  INGOT_UNROLL
  for (unsigned half = 0; half < 2; ++half) {
    const std::uint64_t row = sixteen * std::uint64_t{plane_rows} + lane_index() / 4 + 8 * half;
    const auto* const blocks = reinterpret_cast<const Block*>(parameters.rows + row * parameters.row_bytes) +
                               span * (plane_depth / Block::elements);
    INGOT_UNROLL
    for (unsigned group = 0; group < groups; ++group) {
      INGOT_UNROLL
      for (unsigned part = 0; part < 2; ++part) {
        lane.words[half][group][part] = raw_codes(blocks, 32 * group + 16 * part + lane_index() % 4 * 4);
      }
    }
  }
  return lane;
}

constexpr std::uint32_t low_four = 0x0f0f0f0fu;

INGOT_ON_DEVICE void store_low(const LaneWords& lane, NibblePlane& plane) {
  INGOT_UNROLL
  for (unsigned half = 0; half < 2; ++half) {
    INGOT_UNROLL
    for (unsigned u = 0; u < 2; ++u) {
      Words16 unit;
      INGOT_UNROLL
      for (unsigned j = 0; j < 4; ++j) {
        const auto& words = lane.words[half][4 * u + j];
        unit.words[j] = (words[0] & low_four) | (words[1] & low_four) << 4;
      }
      store16(&plane.units[u][half][lane_index()], unit);
    }
  }
}

INGOT_ON_DEVICE void store_fifth(const LaneWords& lane, FifthBitPlane& plane) {
  Words16 unit = {{0, 0, 0, 0}};
  INGOT_UNROLL
  for (unsigned half = 0; half < 2; ++half) {
    INGOT_UNROLL
    for (unsigned group = 0; group < groups; ++group) {
      INGOT_UNROLL
      for (unsigned part = 0; part < 2; ++part) {
        const std::uint32_t bits = lane.words[half][group][part] >> 4 & 0x01010101u;
        unit.words[2 * half + group / 4] |= bits << (group % 4 * 2 + part);
      }
    }
  }
  store16(&plane.words[lane_index()], unit);
}

INGOT_ON_DEVICE void store_codes(const LaneWords& lane, PlaneTile<BlockQ8_0>& tile) {
  INGOT_UNROLL
  for (unsigned half = 0; half < 2; ++half) {
    INGOT_UNROLL
    for (unsigned u = 0; u < 4; ++u) {
      const auto& words = lane.words[half];
      store16(&tile.codes[u][half][lane_index()],
              {{words[2 * u][0], words[2 * u][1], words[2 * u + 1][0], words[2 * u + 1][1]}});
    }
  }
}
INGOT_ON_DEVICE void store_codes(const LaneWords& lane, PlaneTile<BlockQ4_0>& tile) { store_low(lane, tile.low); }
INGOT_ON_DEVICE void store_codes(const LaneWords& lane, PlaneTile<BlockQ4_K>& tile) { store_low(lane, tile.low); }
INGOT_ON_DEVICE void store_codes(const LaneWords& lane, PlaneTile<BlockQ5_0>& tile) {
  store_low(lane, tile.low);
  store_fifth(lane, tile.high);
}
INGOT_ON_DEVICE void store_codes(const LaneWords& lane, PlaneTile<BlockQ5_K>& tile) {
  store_low(lane, tile.low);
  store_fifth(lane, tile.high);
}
INGOT_ON_DEVICE void store_codes(const LaneWords& lane, PlaneTile<BlockQ6_K>& tile) {
  store_low(lane, tile.low);
  INGOT_UNROLL
  for (unsigned half = 0; half < 2; ++half) {
    Words16 unit = {{0, 0, 0, 0}};
    INGOT_UNROLL
    for (unsigned group = 0; group < groups; ++group) {
      INGOT_UNROLL
      for (unsigned part = 0; part < 2; ++part) {
        const std::uint32_t bits = lane.words[half][group][part] >> 4 & 0x03030303u;
        unit.words[group / 2] |= bits << (group % 2 * 4 + part * 2);
      }
    }
    store16(&tile.high[half][lane_index()], unit);
  }
}

INGOT_ON_DEVICE std::uint32_t half_bits(const StoredHalf& half) {
  return load_constant(half.bytes) | std::uint32_t{load_constant(half.bytes + 1)} << 8;
}
// Sixteen bytes of a block.
template <class Block>
INGOT_ON_DEVICE Words16 bytes_of(const void* from) {
  Words16 unit;
  INGOT_UNROLL
  for (unsigned i = 0; i < 4; ++i) unit.words[i] = load_quad<Block>(static_cast<const std::byte*>(from) + 4 * i);
  return unit;
}

// Of one of the sixteen rows.
template <class Block>
INGOT_ON_DEVICE void store_scales(const Block* blocks, unsigned row, PlaneTile<Block>& tile) {
  if constexpr (Block::elements == 32) {
    Words16 unit = {{0, 0, 0, 0}};
    INGOT_UNROLL
    for (unsigned group = 0; group < groups; ++group) {
      unit.words[group / 2] |= half_bits(blocks[group].scale) << group % 2 * 16;
    }
    store16(tile.scales[row], unit);
  } else if constexpr (requires { tile.heads; }) {
    store16(tile.heads[row], bytes_of<Block>(blocks));
  } else {
    store16(tile.group_scales[row], bytes_of<Block>(blocks->scales));
    store_unit(&tile.scales[row], static_cast<std::uint16_t>(half_bits(blocks->scale)));
  }
}

template <class Block>
INGOT_ON_DEVICE void pack_tile(const PackedPlanes& parameters, unsigned sixteen, unsigned span) {
  auto& tile = reinterpret_cast<PlaneTile<Block>*>(parameters.tiles)[sixteen * std::uint64_t{parameters.spans} + span];
  store_codes(gather_words<Block>(parameters, sixteen, span), tile);
  const unsigned row = lane_index();
  if (row >= plane_rows) return;
  const std::byte* const from = parameters.rows + (sixteen * std::uint64_t{plane_rows} + row) * parameters.row_bytes;
  store_scales(reinterpret_cast<const Block*>(from) + span * (plane_depth / Block::elements), row, tile);
}

}  // namespace

// Budget of pack_planes: 104 registers. A lane holds what it lays down of a tile, up to 64 words.
INGOT_DEVICE_FUNCTION(pack_planes, PackedPlanes, 256) {
  const std::uint64_t place = block_index() * std::uint64_t{warp_count()} + warp_index();
  const auto sixteen = static_cast<unsigned>(place / parameters.spans);
  const auto span = static_cast<unsigned>(place % parameters.spans);
  if (sixteen >= parameters.sixteens) return;
  switch (parameters.type) {
    case DType::q4_0: return pack_tile<BlockQ4_0>(parameters, sixteen, span);
    case DType::q8_0: return pack_tile<BlockQ8_0>(parameters, sixteen, span);
    case DType::q5_0: return pack_tile<BlockQ5_0>(parameters, sixteen, span);
    case DType::q4_k: return pack_tile<BlockQ4_K>(parameters, sixteen, span);
    case DType::q5_k: return pack_tile<BlockQ5_K>(parameters, sixteen, span);
    default: return pack_tile<BlockQ6_K>(parameters, sixteen, span);
  }
}

}  // namespace ingot::device
