// Moving elements as fast as memory allows, one source for every target: stretches by vector loads and stores,
// transpositions by tiles that are turned in registers, anything else element by element. Included inside a vector
// source after hwy/highway.h; the guard toggles with each target.
#if defined(INGOT_KERNELS_LAYOUT_MOVE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef INGOT_KERNELS_LAYOUT_MOVE_INL_H_
#undef INGOT_KERNELS_LAYOUT_MOVE_INL_H_
#else
#define INGOT_KERNELS_LAYOUT_MOVE_INL_H_
#endif

#include <cstring>

#include "hwy/cache_control.h"
#include "hwy/highway.h"
#include "kernels/layout/movement.h"
#include "kernels/vector/copy_stretch-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {

template <class Element>
void move_strided(const Movement& movement, Context& context) {
  const std::int64_t from_step = movement.from_step() / static_cast<std::int64_t>(sizeof(Element));
  const std::int64_t to_step = movement.to_step() / static_cast<std::int64_t>(sizeof(Element));
  for_each_segment(movement, context, [&](const std::byte* source, std::byte* target, std::int64_t count) {
    const auto* from = reinterpret_cast<const Element*>(source);
    auto* to = reinterpret_cast<Element*>(target);
    for (std::int64_t i = 0; i < count; ++i) to[i * to_step] = from[i * from_step];
  });
}

// A vector of 16-byte pieces, each from `apart` bytes behind the one before.
template <class D>
HWY_INLINE hwy::HWY_NAMESPACE::Vec<D> load_pieces(D d, const std::byte* from, std::int64_t apart) {
  namespace hn = hwy::HWY_NAMESPACE;
  if constexpr (hn::MaxLanes(D()) * sizeof(hn::TFromD<D>) == 16) {
    return hn::LoadU(d, reinterpret_cast<const hn::TFromD<D>*>(from));
  } else {
    const hn::Half<D> half;
    constexpr auto pieces = static_cast<std::int64_t>(hn::MaxLanes(half) * sizeof(hn::TFromD<D>) / 16);
    return hn::Combine(d, load_pieces(half, from + pieces * apart, apart), load_pieces(half, from, apart));
  }
}

// Streaming stores go past the caches. The lines of a transposed target lie a row apart, so that no prefetcher brings
// them in, and waiting for lines that are then overwritten is most of the time of a large transposition.
enum class TileStore : std::uint8_t { cached, streaming };

// Turns a tile of `lanes` source rows by `piece` columns, as many elements as fill 16 bytes, so that each column
// becomes one whole vector of the target.
//
// Vector j starts as source rows j, j + piece, j + 2 piece, ..., 16 bytes of each. Interleaving vector i with vector
// i + piece / 2, log2(piece) times, is a perfect shuffle that transposes every 16-byte column of pieces.
template <class Element, TileStore store>
HWY_INLINE void turn_tile(const std::byte* from, std::int64_t from_row, std::byte* to, std::int64_t to_row) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<Element> d;
  constexpr int piece = 16 / static_cast<int>(sizeof(Element));
  hn::Vec<decltype(d)> rows[piece];
  hn::Vec<decltype(d)> next[piece];
  // Unrolled, for an array that is indexed by a variable cannot live in registers.
  HWY_UNROLL(16)
  for (int j = 0; j < piece; ++j) rows[j] = load_pieces(d, from + j * from_row, piece * from_row);
  HWY_UNROLL(4)
  for (int round = 1; round < piece; round *= 2) {
    HWY_UNROLL(8)
    for (int i = 0; i < piece / 2; ++i) {
      next[2 * i] = hn::InterleaveLower(d, rows[i], rows[i + piece / 2]);
      next[2 * i + 1] = hn::InterleaveUpper(d, rows[i], rows[i + piece / 2]);
    }
    HWY_UNROLL(16)
    for (int j = 0; j < piece; ++j) rows[j] = next[j];
  }
  HWY_UNROLL(16)
  for (int j = 0; j < piece; ++j) {
    auto* target = reinterpret_cast<Element*>(to + j * to_row);
    if constexpr (store == TileStore::streaming)
      hn::Stream(rows[j], d, target);
    else
      hn::StoreU(rows[j], d, target);
  }
}

// `columns` are consecutive in the source, `rows` in the target. Precondition where streaming: the target and its rows
// are aligned to a cache line.
template <class Element, TileStore store>
HWY_NOINLINE void turn_block(const std::byte* from, std::int64_t from_row, std::byte* to, std::int64_t to_row,
                             std::int64_t rows, std::int64_t columns) {
  namespace hn = hwy::HWY_NAMESPACE;
  constexpr auto size = static_cast<std::int64_t>(sizeof(Element));
  constexpr auto lanes = static_cast<std::int64_t>(hn::MaxLanes(hn::ScalableTag<Element>()));
  constexpr std::int64_t piece = 16 / size;
  auto turn_one_by_one = [&](std::int64_t row, std::int64_t first, std::int64_t end) {
    for (std::int64_t column = first; column < end; ++column) {
      std::memcpy(to + column * to_row + row * size, from + row * from_row + column * size, sizeof(Element));
    }
  };
  // As many rows at a time as fill a cache line of the target, so that a line is finished when it is left.
  constexpr std::int64_t line = 64 / size;
  std::int64_t row = 0;
  while (row + lanes <= rows) {
    const std::int64_t end = std::min(row + line, row + (rows - row) / lanes * lanes);
    std::int64_t column = 0;
    for (; column + piece <= columns; column += piece) {
      for (std::int64_t tile = row; tile < end; tile += lanes) {
        turn_tile<Element, store>(from + tile * from_row + column * size, from_row, to + column * to_row + tile * size,
                                  to_row);
      }
    }
    for (; row < end; ++row) turn_one_by_one(row, column, columns);
  }
  for (; row < rows; ++row) turn_one_by_one(row, 0, columns);
}

// Blocks of 1 KiB of each source row, which is long enough for the prefetcher, by 128 bytes of each target row: at most
// 128 pages on the source's side, and for 4-byte elements 32 KiB on either side, which the first two caches hold.
template <class Element>
void move_transposed(const Movement& movement, int column_axis, Context& context) {
  constexpr auto size = static_cast<std::int64_t>(sizeof(Element));
  constexpr std::int64_t block_columns = 1024 / size;
  constexpr std::int64_t block_rows = 128 / size;
  constexpr std::int64_t streaming_bytes = 4 << 20;  // beyond what a core's own caches would keep for the next reader
  const auto axis = static_cast<std::size_t>(column_axis);
  const std::int64_t columns = movement.sizes[axis];
  const std::int64_t to_row = movement.to_strides[axis];
  const std::int64_t rows = movement.length();
  const std::int64_t column_blocks = divide_rounding_up(columns, block_columns);
  const std::int64_t row_blocks = divide_rounding_up(rows, block_rows);
  // What is left without the two axes.
  Movement outer = movement;
  outer.sizes[axis] = 1;
  // Narrow vectors leave a line per column unfinished until the next tile; more than a few, and they are flushed in
  // parts.
  constexpr bool finishes_lines =
      size >= 4 || hwy::HWY_NAMESPACE::MaxLanes(hwy::HWY_NAMESPACE::ScalableTag<Element>()) * size == 64;
  const bool is_large = finishes_lines && outer.rows() * rows * columns * size >= streaming_bytes;
  const std::int64_t chunk = rows_per_chunk(2 * block_rows * block_columns * size);
  context.workers.for_chunks(
      outer.rows() * column_blocks * row_blocks, chunk, [&](std::int64_t begin, std::int64_t end, int) {
        for (std::int64_t item = begin; item < end; ++item) {
          const MovementCursor cursor(outer, item / (column_blocks * row_blocks));
          const std::int64_t row = item % row_blocks * block_rows;
          const std::int64_t column = item / row_blocks % column_blocks * block_columns;
          const std::byte* from = cursor.from() + row * movement.from_step() + column * size;
          std::byte* to = cursor.to() + column * to_row + row * size;
          const bool is_aligned =
              (reinterpret_cast<std::uintptr_t>(to) | static_cast<std::uintptr_t>(to_row)) % 64 == 0;
          const auto turn = is_large && is_aligned ? turn_block<Element, TileStore::streaming>
                                                   : turn_block<Element, TileStore::cached>;
          turn(from, movement.from_step(), to, to_row, std::min(block_rows, rows - row),
               std::min(block_columns, columns - column));
        }
        // Other threads must see streamed lines once the chunk counts as done.
        if (is_large) hwy::FlushStream();
      });
}

template <class Element>
void move_scattered(const Movement& movement, Context& context) {
  const int column_axis = movement.transposed_axis();
  if (column_axis >= 0) return move_transposed<Element>(movement, column_axis, context);
  move_strided<Element>(movement, context);
}

// Precondition: one shape, one dtype, no common byte.
inline HWY_NOINLINE void move_elements(const ConstAnyView& from, const AnyView& to, Context& context) {
  const Movement movement(from, to);
  if (movement.empty) return;
  if (movement.has_stretches()) {
    return for_each_segment(movement, context, [&](const std::byte* source, std::byte* target, std::int64_t count) {
      copy_stretch(source, target, count * movement.from_bytes);
    });
  }
  switch (movement.from_bytes) {
    case 1: return move_scattered<std::uint8_t>(movement, context);
    case 2: return move_scattered<std::uint16_t>(movement, context);
    case 4: return move_scattered<std::uint32_t>(movement, context);
    default: return move_scattered<std::uint64_t>(movement, context);
  }
}

// Every element 0, whatever the type: all its bytes are.
inline HWY_NOINLINE void zero_elements(const AnyView& to, Context& context) {
  const Movement movement(to, to);
  if (movement.empty) return;
  for_each_segment(movement, context, [&](const std::byte*, std::byte* target, std::int64_t count) {
    if (movement.has_stretches()) return zero_stretch(target, count * movement.to_bytes);
    for (std::int64_t i = 0; i < count; ++i) {
      std::memset(target + i * movement.to_step(), 0, static_cast<std::size_t>(movement.to_bytes));
    }
  });
}

}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggling guard
