#pragma once

#include "kernels/cache/cache_case_shapes.h"
#include "kernels/cache/store.h"

namespace ingot {

template <CachePolicy policy>
void CacheStore<policy>::cases(CaseList<CacheStore>& list) {
  auto store = [](CacheShape shape) {
    return [shape](CaseBuilder& builder) {
      Arguments a;
      a.x = builder.filled({shape.rows, shape.heads, shape.width});
      const CachePlaces places = make_places(builder, shape, policy);
      a.sequences = places.sequences;
      a.positions = places.positions;
      a.block_table = make_block_table(builder, shape);
      a.pages = builder.filled_any(shape.dtype, shape.pages(), Fill::uniform(-2, 2));
      return a;
    };
  };
  for (const CacheShape& shape : parity_cache_shapes(policy)) list.parity(shape.name(), store(shape));
  // A scale of exactly one and codes of exactly one half: which way halves are rounded.
  list.parity("halves q8_0", [store](CaseBuilder& builder) {
    const CacheShape shape = {DType::q8_0, 4, 2, 3, 64, 7, policy == CachePolicy::paged ? 3 : 0};
    Arguments a = store(shape)(builder);
    const View<float> x = builder.filled({shape.rows, shape.heads, shape.width}, Fill::integers(-254, 255));
    for (std::int64_t t = 0; t < shape.rows; ++t) {
      for (std::int64_t head = 0; head < shape.heads; ++head) {
        for (std::int64_t i = 0; i < shape.width; ++i) x(t, head, i) = i % 32 == 5 ? -127.0f : x(t, head, i) / 2;
      }
    }
    a.x = x;
    return a;
  });
  for (const CacheShape& shape : benchmark_cache_shapes(policy)) list.benchmark(shape.name(), store(shape));
}

inline void JointStorePaged::cases(CaseList<JointStorePaged>& list) {
  // Values that are narrower than keys, in one case.
  auto store = [](CacheShape shape, std::int64_t value_width) {
    return [shape, value_width](CaseBuilder& builder) {
      CacheShape of_values = shape;
      of_values.width = value_width;
      Arguments a;
      a.keys = builder.filled({shape.rows, shape.heads, shape.width});
      a.values = builder.filled({shape.rows, shape.heads, value_width});
      const CachePlaces places = make_places(builder, shape, CachePolicy::paged);
      a.sequences = places.sequences;
      a.positions = places.positions;
      a.block_table = make_block_table(builder, shape);
      a.k_pages = builder.filled_any(shape.dtype, shape.pages(), Fill::uniform(-2, 2));
      a.v_pages = builder.filled_any(shape.dtype, of_values.pages(), Fill::uniform(-2, 2));
      return a;
    };
  };
  for (const CacheShape& shape : parity_cache_shapes(CachePolicy::paged)) {
    list.parity(shape.name(), store(shape, shape.width));
  }
  list.parity("narrow values", store({DType::q8_0, 5, 2, 3, 96, 7, 3}, 32));
  for (const CacheShape& shape : benchmark_cache_shapes(CachePolicy::paged)) {
    list.benchmark(shape.name(), store(shape, shape.width));
  }
}

}  // namespace ingot
