// The shapes that storing and reading are proved on, and the lists of places that go with them.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "kernels/cache/cache_view.h"
#include "kernels/contract/case_builder.h"

namespace ingot {

struct CacheShape {
  DType dtype;
  std::int64_t rows;       // T
  std::int64_t sequences;  // B
  std::int64_t heads;
  std::int64_t width;
  std::int64_t page_length;
  std::int64_t pages_each;  // N; 0: no block table

  std::string name() const {
    return std::to_string(rows) + " rows, " + std::to_string(sequences) + " sequences, " + std::to_string(heads) +
           " heads of " + std::to_string(width) + ", pages of " + std::to_string(page_length) +
           (pages_each > 0 ? " x " + std::to_string(pages_each) : "") + " " + std::string(name_of(dtype));
  }
  // A page more than the table needs, so that not every page is named.
  Shape pages() const { return {pages_each > 0 ? sequences * pages_each + 1 : sequences, heads, page_length, width}; }
};

// Every type, at widths around the vectors' and a block's; one row and none.
inline std::vector<CacheShape> parity_cache_shapes(CachePolicy policy) {
  const std::int64_t each = policy == CachePolicy::paged ? 3 : 0;
  std::vector<CacheShape> shapes = {
      {DType::f32, 5, 2, 3, 67, 7, each},  {DType::f16, 5, 2, 3, 67, 7, each},   {DType::q8_0, 5, 2, 3, 64, 7, each},
      {DType::f32, 1, 1, 1, 1, 1, each},   {DType::f16, 11, 3, 2, 128, 4, each}, {DType::q8_0, 11, 3, 2, 96, 4, each},
      {DType::q8_0, 1, 1, 2, 32, 5, each}, {DType::f32, 0, 2, 2, 8, 4, each},    {DType::f16, 300, 3, 4, 80, 128, each},
  };
  if (policy == CachePolicy::ring) {
    shapes.push_back({DType::f16, 9, 2, 2, 40, 4, 2});  // a wrapping table
    shapes.push_back({DType::q8_0, 9, 2, 2, 64, 4, 2});
  }
  return shapes;
}

// A batch that decodes one token each, and a prompt of 512.
inline std::vector<CacheShape> benchmark_cache_shapes(CachePolicy policy) {
  const bool paged = policy == CachePolicy::paged;
  std::vector<CacheShape> shapes;
  for (DType dtype : {DType::f32, DType::f16, DType::q8_0}) {
    shapes.push_back({dtype, 512, 1, 8, 128, paged ? 64 : 512, paged ? 8 : 0});
  }
  shapes.push_back({DType::f16, 8, 8, 8, 128, paged ? 64 : 512, paged ? 8 : 0});
  return shapes;
}

// Rows take turns over the sequences, at positions that go backwards over the capacity: no two meet, and in a ring the
// positions lie beyond the first turn. Precondition: rows <= sequences * capacity.
inline CachePlaces make_places(CaseBuilder& builder, const CacheShape& shape, CachePolicy policy) {
  const auto sequences = builder.filled<std::int32_t>({shape.rows}, Fill::constant(0), Packing::contiguous);
  const auto positions = builder.filled<std::int32_t>({shape.rows}, Fill::constant(0), Packing::contiguous);
  const std::int64_t capacity = shape.page_length * std::max<std::int64_t>(shape.pages_each, 1);
  for (std::int64_t t = 0; t < shape.rows; ++t) {
    const std::int64_t position = capacity - 1 - t / shape.sequences;
    sequences(t) = static_cast<std::int32_t>(t % shape.sequences);
    positions(t) = static_cast<std::int32_t>(policy == CachePolicy::ring ? position + 2 * capacity / 3 : position);
  }
  return {sequences, positions};
}

// Pages in reverse order, the first of all unused; left out where the shape has no table.
inline View<const std::int32_t> make_block_table(CaseBuilder& builder, const CacheShape& shape) {
  if (shape.pages_each == 0) return {};
  const auto table = builder.filled<std::int32_t>({shape.sequences, shape.pages_each}, Fill::constant(0));
  for (std::int64_t s = 0; s < shape.sequences; ++s) {
    for (std::int64_t n = 0; n < shape.pages_each; ++n) {
      table(s, n) = static_cast<std::int32_t>(shape.sequences * shape.pages_each - (s * shape.pages_each + n));
    }
  }
  return table;
}

}  // namespace ingot
