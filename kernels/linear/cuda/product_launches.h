// What the sources that launch device products share: where the parts of a prepared x lie in scratch, and how many
// blocks its rows fill.
#pragma once

#include <algorithm>

#include "base/units.h"
#include "kernels/linear/cuda/half_products_cuda.h"
#include "kernels/linear/cuda/prepared_x_cuda.h"
#include "kernels/linear/cuda/products_cuda.h"
#include "machine/gpu/queue.h"

namespace ingot {

constexpr std::uint32_t blocks_for(std::uint32_t count, std::uint32_t of_block) {
  return (count + of_block - 1) / of_block;
}

// Tiles that rows of x may fill at most: experts have whole ones.
inline std::uint32_t tiles_for(const DeviceProduct& product, std::uint32_t tokens) {
  if (product.offsets == nullptr) return blocks_for(product.rows, tokens);
  return product.rows / tokens + std::min(product.experts, product.rows);
}

inline constexpr std::uint32_t few_tokens = 2 * tile_tokens;
// Depends on shapes alone, and bits do not depend on it.
inline bool has_few_tokens(const DeviceProduct& product) {
  if (product.offsets == nullptr) return product.rows <= few_tokens;
  return product.rows <= std::uint64_t{tile_tokens} * product.experts;
}

inline bool is_plain(PreparedKind kind) {
  return kind == PreparedKind::plain_codes_32 || kind == PreparedKind::plain_codes_256;
}
inline bool is_rounded(PreparedKind kind) { return kind == PreparedKind::bf16 || kind == PreparedKind::halves; }

// Of prepared codes.
struct CodedPlace {
  std::size_t scales, sums, end;

  CodedPlace(PreparedKind kind, std::size_t rows, std::size_t depth) {
    const std::size_t spans = rows * spans_of(static_cast<std::uint32_t>(depth));
    const std::size_t blocks = kind == PreparedKind::codes_32 ? span_groups : 1;
    scales = spans * span_elements;
    sums = align_up(scales + spans * blocks * sizeof(float), 16);
    end = sums + spans * (span_elements / code_group) * sizeof(std::int32_t);
  }
};
// Of codes without sums, in whole eights of rows.
struct PlainPlace {
  std::size_t scales, end;

  PlainPlace(PreparedKind kind, std::size_t rows, std::size_t depth) {
    scales = align_up(rows, tile_tokens) * depth;
    end = scales + rows * (depth / (kind == PreparedKind::plain_codes_32 ? 32 : span_elements)) * sizeof(float);
  }
};
// And of rounded rows.
struct RoundedPlace {
  std::size_t stride, scales, end;

  RoundedPlace(PreparedKind kind, std::size_t rows, std::size_t depth) {
    stride = align_up(depth, half_chunk);
    scales = rows * stride * sizeof(std::uint16_t);
    end = scales + (kind == PreparedKind::halves ? rows * sizeof(float) : 0);
  }
};

// Several tokens, and yet few, are laid as lanes take them.
inline bool lays_codes(std::uint32_t rows) { return rows > 1 && rows <= few_tokens; }
// Codes that are given are read where they lie, if units of them can be.
inline bool reads_given_codes(const ProductInput& input) {
  const CodedX given = input.coded();
  return given.is_given() && !lays_codes(static_cast<std::uint32_t>(input.shape()[0])) &&
         reinterpret_cast<std::uintptr_t>(given.codes) % 16 == 0 && given.codes_stride % 16 == 0 &&
         reinterpret_cast<std::uintptr_t>(given.scales) % 16 == 0 && given.scales_stride % 4 == 0;
}

inline bool starts_aligned(const DeviceProduct& product) {
  return reinterpret_cast<std::uintptr_t>(product.weights) % 16 == 0 && product.row_bytes % 16 == 0 &&
         product.expert_bytes % 16 == 0;
}

// Each warp has rows of its own, and stages of shared memory where they come by way of it.
template <class Parameters>
void launch_many(const DeviceFunction& function, const DeviceProduct& product, const Parameters& parameters,
                 Queue& queue, std::uint32_t shared_bytes = 0) {
  queue.launch(function,
               {.blocks = blocks_for(product.columns, tiled_warps * warp_columns),
                .blocks_y = tiles_for(product, many_tiles * tile_tokens),
                .threads = 32 * tiled_warps,
                .shared_bytes = shared_bytes},
               parameters);
}

// A product of many tokens with weights of 16 bits or in planes (kernels/linear/cuda/streamed_cuda.cc).
void enqueue_tiled(const DeviceProduct& product, DType weight_type, const ProductInput& input,
                   const std::byte* prepared, Queue& queue);

}  // namespace ingot
