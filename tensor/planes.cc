#include "tensor/planes.h"

#include <cstring>

namespace ingot {
namespace {

// Where an element stands: in its group, in which lane's words, and in which of their bytes.
struct PlanePlace {
  int group, part, half, lane, byte;
};
constexpr PlanePlace place_of(std::int64_t row, int element) {
  const int within = element % 32;
  const auto in_tile = static_cast<int>(row % plane_rows);
  return {element / 32, within / 16, in_tile / 8, in_tile % 8 * 4 + within % 16 / 4, within % 4};
}

// Bits of a byte that a format or a plane holds a part of a code in.
struct ByteBits {
  std::uint8_t& byte;
  int shift;

  unsigned read(int count) const { return byte >> shift & ((1u << count) - 1); }
  void write(unsigned value, int count) {
    const unsigned mask = ((1u << count) - 1) << shift;
    byte = static_cast<std::uint8_t>((byte & ~mask) | value << shift);
  }
};

ByteBits low_bits(NibblePlane& plane, const PlanePlace& at) {
  return {plane.units[at.group / 4][at.half][at.lane].words[at.group % 4][at.byte], 4 * at.part};
}
ByteBits high_bits(FifthBitPlane& plane, const PlanePlace& at) {
  return {plane.words[at.lane][at.half][at.group / 4][at.byte], at.group % 4 * 2 + at.part};
}
ByteBits high_bits(PlaneUnit (&plane)[2][32], const PlanePlace& at) {
  return {plane[at.half][at.lane].words[at.group / 2][at.byte], at.group % 2 * 4 + at.part * 2};
}

// Both ways: `move(of the block, of the tile, bits)` for every part of a code, `copy(...)` for what is bytes. `blocks`
// are those of a row's 256 elements.
template <class Move, class Copy>
void visit(BlockQ8_0* blocks, PlaneTile<BlockQ8_0>& tile, std::int64_t row, Move, Copy copy) {
  for (int element = 0; element < plane_depth; ++element) {
    const PlanePlace at = place_of(row, element);
    auto& word = tile.codes[at.group / 2][at.half][at.lane].words[at.group % 2 * 2 + at.part];
    copy(&blocks[element / 32].codes[element % 32], &word[at.byte], 1);
  }
}
template <class Block, class Move>
void visit_nibbles_of_32(Block* blocks, NibblePlane& plane, std::int64_t row, Move move) {
  for (int element = 0; element < plane_depth; ++element) {
    const PlanePlace at = place_of(row, element);
    move(ByteBits{blocks[at.group].low[element % 16], 4 * at.part}, low_bits(plane, at), 4);
  }
}
template <class Move, class Copy>
void visit(BlockQ4_0* blocks, PlaneTile<BlockQ4_0>& tile, std::int64_t row, Move move, Copy) {
  visit_nibbles_of_32(blocks, tile.low, row, move);
}
template <class Move, class Copy>
void visit(BlockQ5_0* blocks, PlaneTile<BlockQ5_0>& tile, std::int64_t row, Move move, Copy) {
  visit_nibbles_of_32(blocks, tile.low, row, move);
  for (int element = 0; element < plane_depth; ++element) {
    const PlanePlace at = place_of(row, element);
    move(ByteBits{blocks[at.group].high[element % 32 / 8], element % 8}, high_bits(tile.high, at), 1);
  }
}
template <class Block, class Move>
void visit_nibbles_of_256(Block& block, NibblePlane& plane, std::int64_t row, Move move) {
  for (int element = 0; element < plane_depth; ++element) {
    const PlanePlace at = place_of(row, element);
    move(ByteBits{block.low[at.group / 2 * 32 + element % 32], at.group % 2 * 4}, low_bits(plane, at), 4);
  }
}
template <class Move, class Copy>
void visit(BlockQ4_K* block, PlaneTile<BlockQ4_K>& tile, std::int64_t row, Move move, Copy copy) {
  copy(block, tile.heads[row % plane_rows], sizeof(tile.heads[0]));
  visit_nibbles_of_256(*block, tile.low, row, move);
}
template <class Move, class Copy>
void visit(BlockQ5_K* block, PlaneTile<BlockQ5_K>& tile, std::int64_t row, Move move, Copy copy) {
  copy(block, tile.heads[row % plane_rows], sizeof(tile.heads[0]));
  visit_nibbles_of_256(*block, tile.low, row, move);
  for (int element = 0; element < plane_depth; ++element) {
    const PlanePlace at = place_of(row, element);
    move(ByteBits{block->high[element % 32], at.group}, high_bits(tile.high, at), 1);
  }
}
template <class Move, class Copy>
void visit(BlockQ6_K* block, PlaneTile<BlockQ6_K>& tile, std::int64_t row, Move move, Copy copy) {
  copy(block->scales, tile.group_scales[row % plane_rows], sizeof(block->scales));
  copy(&block->scale, &tile.scales[row % plane_rows], sizeof(StoredHalf));
  for (int element = 0; element < plane_depth; ++element) {
    const PlanePlace at = place_of(row, element);
    const int half = element / 128, within = element % 128;
    move(ByteBits{block->low[64 * half + within % 64], within / 64 * 4}, low_bits(tile.low, at), 4);
    move(ByteBits{block->high[32 * half + within % 32], within / 32 * 2}, high_bits(tile.high, at), 2);
  }
}
// A scale each in formats of 32.
template <class Block, class Move, class Copy>
void visit_all(Block* blocks, PlaneTile<Block>& tile, std::int64_t row, Move move, Copy copy) {
  if constexpr (Block::elements == 32) {
    for (int b = 0; b < 8; ++b) copy(&blocks[b].scale, &tile.scales[row % plane_rows][b], sizeof(StoredHalf));
  }
  visit(blocks, tile, row, move, copy);
}

template <class Function>
void with_plane_type(DType dtype, Function function) {
  if (dtype == DType::q5_k) return function.template operator()<BlockQ5_K>();
  with_interleaved_type(dtype, function);
}

template <class Block>
constexpr std::int64_t blocks_of_span = plane_depth / Block::elements;

}  // namespace

void lay_planes(const ConstAnyView& rows, std::int64_t begin, std::int64_t end, const AnyView& packed) {
  with_plane_type(rows.dtype(), [&]<class Block>() {
    const std::int64_t spans = rows.size(1) / plane_depth;
    auto* tiles = reinterpret_cast<PlaneTile<Block>*>(packed.data());
    for (std::int64_t row = begin; row < end; ++row) {
      for (std::int64_t span = 0; span < spans; ++span) {
        Block blocks[blocks_of_span<Block>];
        std::memcpy(blocks, rows.row(row) + span * static_cast<std::int64_t>(sizeof(blocks)), sizeof(blocks));
        visit_all(
            blocks, tiles[row / plane_rows * spans + span], row,
            [](ByteBits from, ByteBits to, int count) { to.write(from.read(count), count); },
            [](const void* from, void* to, std::size_t bytes) { std::memcpy(to, from, bytes); });
      }
    }
  });
}

void gather_blocks(WeightLayout layout, const ConstAnyView& packed, std::int64_t row, std::int64_t first,
                   std::int64_t count, std::byte* target) {
  if (layout == WeightLayout::interleaved8) return gather_blocks(packed, row, first, count, target);
  with_plane_type(packed.dtype(), [&]<class Block>() {
    constexpr std::int64_t of_span = blocks_of_span<Block>;
    const std::int64_t spans = packed.size(1) / plane_depth;
    // Only read, although the visitor could write.
    auto* tiles = reinterpret_cast<PlaneTile<Block>*>(const_cast<std::byte*>(packed.data()));
    for (std::int64_t b = first; b < first + count;) {
      Block blocks[of_span] = {};
      visit_all(
          blocks, tiles[row / plane_rows * spans + b / of_span], row,
          [](ByteBits to, ByteBits from, int bits) { to.write(from.read(bits), bits); },
          [](void* to, const void* from, std::size_t bytes) { std::memcpy(to, from, bytes); });
      const std::int64_t some = std::min(of_span - b % of_span, first + count - b);
      std::memcpy(target + (b - first) * static_cast<std::int64_t>(sizeof(Block)), blocks + b % of_span,
                  static_cast<std::size_t>(some) * sizeof(Block));
      b += some;
    }
  });
}

void gather_row(WeightLayout layout, const ConstAnyView& packed, std::int64_t row, std::byte* target) {
  gather_blocks(layout, packed, row, 0, packed.size(1) / block_elements(packed.dtype()), target);
}

}  // namespace ingot
