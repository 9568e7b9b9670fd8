#include "tensor/interleaved.h"

#include "tensor/interleaved_blocks.h"

namespace ingot {

void interleave_rows(const ConstAnyView& rows, std::int64_t begin, std::int64_t end, const AnyView& packed) {
  with_interleaved_type(rows.dtype(), [&]<class Block>() {
    const std::int64_t blocks = rows.size(1) / Block::elements;
    for (std::int64_t row = begin; row < end; ++row) {
      const auto* from = reinterpret_cast<const Block*>(rows.row(row));
      auto* braid = reinterpret_cast<InterleavedBlocks<Block>*>(packed.data()) + row / interleaved_rows * blocks;
      for (std::int64_t b = 0; b < blocks; ++b) put_block(from[b], row % interleaved_rows, braid[b]);
    }
  });
}

void gather_blocks(const ConstAnyView& packed, std::int64_t row, std::int64_t first, std::int64_t count,
                   std::byte* target) {
  with_interleaved_type(packed.dtype(), [&]<class Block>() {
    const std::int64_t blocks = packed.size(1) / Block::elements;
    const auto* braid =
        reinterpret_cast<const InterleavedBlocks<Block>*>(packed.data()) + row / interleaved_rows * blocks + first;
    auto* to = reinterpret_cast<Block*>(target);
    for (std::int64_t b = 0; b < count; ++b) take_block(braid[b], row % interleaved_rows, to[b]);
  });
}

void gather_row(const ConstAnyView& packed, std::int64_t row, std::byte* target) {
  gather_blocks(packed, row, 0, packed.size(1) / block_elements(packed.dtype()), target);
}

}  // namespace ingot
