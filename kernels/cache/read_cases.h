#pragma once

#include "kernels/cache/cache_case_shapes.h"
#include "kernels/cache/read.h"

namespace ingot {

template <CachePolicy policy>
void CacheRead<policy>::cases(CaseList<CacheRead>& list) {
  auto read = [](CacheShape shape) {
    return [shape](CaseBuilder& builder) {
      Arguments a;
      a.pages = builder.filled_any(shape.dtype, shape.pages());
      const CachePlaces places = make_places(builder, shape, policy);
      a.sequences = places.sequences;
      a.positions = places.positions;
      a.block_table = make_block_table(builder, shape);
      a.y = builder.blank({shape.rows, shape.heads, shape.width});
      return a;
    };
  };
  for (const CacheShape& shape : parity_cache_shapes(policy)) list.parity(shape.name(), read(shape));
  for (const CacheShape& shape : benchmark_cache_shapes(policy)) list.benchmark(shape.name(), read(shape));
}

}  // namespace ingot
