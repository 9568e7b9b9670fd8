// Rows out of planes: a warp for a tile, each lane with the words of its two rows, the way back of pack_cuda.cu. Out of
// braids: a thread for a block, which is written where it lies, byte by byte; nobody waits for it.
#include "kernels/linear/cuda/unpack_cuda.h"

#include "kernels/device/memory.h"
#include "kernels/device/warp.h"
#include "tensor/interleaved_blocks.h"
#include "tensor/plane_tiles.h"

namespace ingot::device {
namespace {

constexpr unsigned groups = plane_depth / 32;
constexpr std::uint32_t low_four = 0x0f0f0f0fu;

// Four bytes to any place.
INGOT_ON_DEVICE void store_quad(std::uint32_t word, void* to) {
  const auto address = reinterpret_cast<std::uintptr_t>(to);
  if (address % 4 == 0) return store_unit(to, word);
  auto* const bytes = static_cast<std::uint8_t*>(to);
  if (address % 2 == 0) {
    store_unit(bytes, static_cast<std::uint16_t>(word));
    store_unit(bytes + 2, static_cast<std::uint16_t>(word >> 16));
    return;
  }
  INGOT_UNROLL
  for (unsigned i = 0; i < 4; ++i) bytes[i] = static_cast<std::uint8_t>(word >> 8 * i);
}

// Of one of a lane's rows: part 0 of a group in the low half of each byte, part 1 in the high one.
struct LowWords {
  std::uint32_t groups[device::groups];

  INGOT_ON_DEVICE std::uint32_t codes(unsigned group, unsigned part) const {
    return this->groups[group] >> 4 * part & low_four;
  }
};
INGOT_ON_DEVICE LowWords load_low(const NibblePlane& plane, unsigned half) {
  LowWords low;
  INGOT_UNROLL
  for (unsigned u = 0; u < 2; ++u) {
    const Words16 unit = load16(&plane.units[u][half][lane_index()]);
    INGOT_UNROLL
    for (unsigned j = 0; j < 4; ++j) low.groups[4 * u + j] = unit.words[j];
  }
  return low;
}
// The fifth bits of four codes, at the bottom of their bytes.
INGOT_ON_DEVICE std::uint32_t fifth_bits(const Words8& words, unsigned group, unsigned part) {
  return words.words[group / 4] >> (group % 4 * 2 + part) & 0x01010101u;
}
INGOT_ON_DEVICE Words8 load_fifth(const FifthBitPlane& plane, unsigned half) {
  return load8(plane.words[lane_index()][half]);
}

// Where the four elements of a lane stand in a row's group of 32: `at` of part 0, `at` + 16 of part 1.
INGOT_ON_DEVICE unsigned own_elements() { return lane_index() % 4 * 4; }

INGOT_ON_DEVICE void store_codes(const PlaneTile<BlockQ8_0>& tile, unsigned half, BlockQ8_0* blocks) {
  INGOT_UNROLL
  for (unsigned u = 0; u < 4; ++u) {
    const Words16 unit = load16(&tile.codes[u][half][lane_index()]);
    INGOT_UNROLL
    for (unsigned j = 0; j < 4; ++j) {
      store_quad(unit.words[j], blocks[2 * u + j / 2].codes + 16 * (j % 2) + own_elements());
    }
  }
}
// Formats of 32 keep two parts in a byte as planes do.
template <class Block>
INGOT_ON_DEVICE void store_low_of_32(const LowWords& low, Block* blocks) {
  INGOT_UNROLL
  for (unsigned group = 0; group < groups; ++group) store_quad(low.groups[group], blocks[group].low + own_elements());
}
INGOT_ON_DEVICE void store_codes(const PlaneTile<BlockQ4_0>& tile, unsigned half, BlockQ4_0* blocks) {
  store_low_of_32(load_low(tile.low, half), blocks);
}
INGOT_ON_DEVICE void store_codes(const PlaneTile<BlockQ5_0>& tile, unsigned half, BlockQ5_0* blocks) {
  store_low_of_32(load_low(tile.low, half), blocks);
  const Words8 fifth = load_fifth(tile.high, half);
  INGOT_UNROLL
  for (unsigned group = 0; group < groups; ++group) {
    std::uint32_t bits = gather_bits(fifth_bits(fifth, group, 0)) << own_elements() |
                         gather_bits(fifth_bits(fifth, group, 1)) << (16 + own_elements());
    bits |= shuffle_xor(bits, 1);  // the four lanes of a row have each its own
    bits |= shuffle_xor(bits, 2);
    if (lane_index() % 4 == 0) store_quad(bits, blocks[group].high);
  }
}

// Formats of 256 keep two groups in a byte.
template <class Block>
INGOT_ON_DEVICE void store_low_of_256(const LowWords& low, Block* block) {
  INGOT_UNROLL
  for (unsigned i = 0; i < groups; ++i) {
    const unsigned pair = i / 2, part = i % 2;
    store_quad(low.codes(2 * pair, part) | low.codes(2 * pair + 1, part) << 4,
               block->low + 32 * pair + 16 * part + own_elements());
  }
}
INGOT_ON_DEVICE void store_codes(const PlaneTile<BlockQ4_K>& tile, unsigned half, BlockQ4_K* block) {
  store_low_of_256(load_low(tile.low, half), block);
}
INGOT_ON_DEVICE void store_codes(const PlaneTile<BlockQ5_K>& tile, unsigned half, BlockQ5_K* block) {
  store_low_of_256(load_low(tile.low, half), block);
  const Words8 fifth = load_fifth(tile.high, half);
  INGOT_UNROLL
  for (unsigned part = 0; part < 2; ++part) {
    std::uint32_t bits = 0;
    INGOT_UNROLL
    for (unsigned group = 0; group < groups; ++group) bits |= fifth_bits(fifth, group, part) << group;
    store_quad(bits, block->high + 16 * part + own_elements());
  }
}
// Of a half's four groups: the first two in the low halves of bytes, the others in the high ones; two bits of each.
INGOT_ON_DEVICE void store_codes(const PlaneTile<BlockQ6_K>& tile, unsigned half, BlockQ6_K* block) {
  const LowWords low = load_low(tile.low, half);
  const Words16 high = load16(&tile.high[half][lane_index()]);
  INGOT_UNROLL
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned of_block = i / 2, part = i % 2;
    std::uint32_t bits = 0;
    INGOT_UNROLL
    for (unsigned j = 0; j < 4; ++j) {
      const unsigned group = 4 * of_block + j;
      bits |= (high.words[group / 2] >> (group % 2 * 4 + part * 2) & 0x03030303u) << 2 * j;
    }
    const unsigned at = 16 * part + own_elements();
    store_quad(bits, block->high + 32 * of_block + at);
    INGOT_UNROLL
    for (unsigned j = 0; j < 2; ++j) {
      store_quad(low.codes(4 * of_block + j, part) | low.codes(4 * of_block + j + 2, part) << 4,
                 block->low + 64 * of_block + 32 * j + at);
    }
  }
}

INGOT_ON_DEVICE void store_sixteen(const void* from, void* to) {
  const Words16 words = load16(from);
  INGOT_UNROLL
  for (unsigned i = 0; i < 4; ++i) store_quad(words.words[i], static_cast<std::byte*>(to) + 4 * i);
}
// What stands beside the codes, of one of the sixteen rows.
template <class Block>
INGOT_ON_DEVICE void store_scales(const PlaneTile<Block>& tile, unsigned row, Block* blocks) {
  if constexpr (Block::elements == 32) {
    for (unsigned group = 0; group < groups; ++group) blocks[group].scale = tile.scales[row][group];
  } else if constexpr (requires { tile.heads; }) {
    store_sixteen(tile.heads[row], blocks);
  } else {
    store_sixteen(tile.group_scales[row], blocks->scales);
    blocks->scale = tile.scales[row];
  }
}

template <class Block>
INGOT_ON_DEVICE void unpack_tile(const UnpackedRows& parameters, unsigned sixteen, unsigned span) {
  const auto& tile =
      reinterpret_cast<const PlaneTile<Block>*>(parameters.packed)[sixteen * std::uint64_t{parameters.spans} + span];
  const auto blocks_of = [&](unsigned row) {
    std::byte* const to = parameters.rows + (sixteen * std::uint64_t{plane_rows} + row) * parameters.row_bytes;
    return reinterpret_cast<Block*>(to) + span * (plane_depth / Block::elements);
  };
  INGOT_UNROLL
  for (unsigned half = 0; half < 2; ++half) store_codes(tile, half, blocks_of(lane_index() / 4 + 8 * half));
  if (lane_index() < plane_rows) store_scales(tile, lane_index(), blocks_of(lane_index()));
}

template <class Block>
INGOT_ON_DEVICE void unpack_block(const UnpackedRows& parameters, std::uint64_t eight, unsigned lane) {
  const auto braid = eight / parameters.spans, span = eight % parameters.spans;
  std::byte* const to = parameters.rows + (braid * interleaved_rows + lane) * parameters.row_bytes;
  take_block(reinterpret_cast<const InterleavedBlocks<Block>*>(parameters.packed)[eight], lane,
             reinterpret_cast<Block*>(to)[span]);
}

}  // namespace

INGOT_DEVICE_FUNCTION(unpack_planes, UnpackedRows, 256) {
  const std::uint64_t place = block_index() * std::uint64_t{warp_count()} + warp_index();
  const auto sixteen = static_cast<unsigned>(place / parameters.spans);
  const auto span = static_cast<unsigned>(place % parameters.spans);
  if (sixteen >= parameters.row_count / plane_rows) return;
  switch (parameters.type) {
    case DType::q4_0: return unpack_tile<BlockQ4_0>(parameters, sixteen, span);
    case DType::q8_0: return unpack_tile<BlockQ8_0>(parameters, sixteen, span);
    case DType::q5_0: return unpack_tile<BlockQ5_0>(parameters, sixteen, span);
    case DType::q4_k: return unpack_tile<BlockQ4_K>(parameters, sixteen, span);
    case DType::q5_k: return unpack_tile<BlockQ5_K>(parameters, sixteen, span);
    default: return unpack_tile<BlockQ6_K>(parameters, sixteen, span);
  }
}

// Eight threads for the eight blocks that stand together.
INGOT_DEVICE_FUNCTION(unpack_braids, UnpackedRows, 256) {
  const std::uint64_t place = block_index() * std::uint64_t{thread_count()} + thread_index();
  const std::uint64_t eight = place / interleaved_rows;
  const auto lane = static_cast<unsigned>(place % interleaved_rows);
  if (eight >= parameters.row_count / interleaved_rows * std::uint64_t{parameters.spans}) return;
  switch (parameters.type) {
    case DType::q4_0: return unpack_block<BlockQ4_0>(parameters, eight, lane);
    case DType::q8_0: return unpack_block<BlockQ8_0>(parameters, eight, lane);
    case DType::q5_0: return unpack_block<BlockQ5_0>(parameters, eight, lane);
    case DType::q4_k: return unpack_block<BlockQ4_K>(parameters, eight, lane);
    default: return unpack_block<BlockQ6_K>(parameters, eight, lane);
  }
}

}  // namespace ingot::device
